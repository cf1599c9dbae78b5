/** Statuses that pass: asking again may be answered otherwise (RFC 9110 §15, RFC 8470, RFC 6585). */
const TRANSIENT_STATUSES: readonly number[] = [408, 425, 429, 500, 502, 503, 504]

/** Whether a response with this status is worth another request with the same bytes. */
export function isTransientStatus(status: number): boolean {
  return TRANSIENT_STATUSES.includes(status)
}

const FIRST_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 8_000

/**
 * The wait before a retry, in milliseconds: full jitter, evenly from 0 up to 250 ms · 2^retries and
 * at most 8 s, so that callers who failed together do not come back together.
 */
export function backoffMs(retries: number, random: number): number {
  return random * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retries)
}

const DELAY_SECONDS = /^\d+(?:\.\d+)?$/
/** Each of the three forms of RFC 9110 §5.6.7 begins with a day; Date.parse takes a bare number too. */
const HTTP_DATE = /^(?:mon|tue|wed|thu|fri|sat|sun)/i

/**
 * The wait that Retry-After asks for (RFC 9110 §10.2.3), in milliseconds; 0 for a date that is past.
 * Undefined where the header is missing or says nothing.
 * @param nowMs the time in milliseconds since 1970 by the clock that wrote the header
 */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  const text = (value ?? '').trim()
  // Two headers are read as one; the longer wait suits both.
  const delays = text.split(/ *, */)
  if (delays.every((delay) => DELAY_SECONDS.test(delay)))
    return Math.max(...delays.map(Number)) * 1_000
  if (!HTTP_DATE.test(text)) return undefined
  // The asctime form names no zone and means UTC.
  const date = Date.parse(/gmt$/i.test(text) ? text : `${text} GMT`)
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs)
}

/** The wait for a Retry-After: never less, and up to 10 % more, so that not all wake together. */
export function withJitter(retryAfterMs: number, random: number): number {
  return retryAfterMs * (1 + 0.1 * random)
}

/** All that the decision rests on, in milliseconds, and `random` from 0 up to 1. */
export interface RetryQuestion {
  readonly retryable: boolean
  /** Retries made already. */
  readonly retries: number
  readonly maxRetries: number
  readonly retryAfterMs: number | undefined
  readonly maxRetryAfterMs: number
  /** What is left of the call's time; Infinity where it has no end. */
  readonly remainingMs: number
  readonly random: number
}

/**
 * The wait before the same request is sent again; undefined where it is not to be. Retry-After is a
 * floor: never less, up to 10 % more, and never slept past its cap or past the call's time.
 */
export function decideRetry(question: RetryQuestion): number | undefined {
  const { retryable, retries, maxRetries, retryAfterMs = 0, maxRetryAfterMs, random } = question
  if (!retryable || retries >= maxRetries || retryAfterMs > maxRetryAfterMs) return undefined
  // A wait of 0 s, or until a date that is past, names no floor.
  const asked = Math.min(withJitter(retryAfterMs, random), maxRetryAfterMs)
  const delayMs = retryAfterMs === 0 ? backoffMs(retries, random) : asked
  return delayMs < question.remainingMs ? delayMs : undefined
}
