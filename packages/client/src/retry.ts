import { errorTable } from '@plant-store/contract'

/** What gateways say while a server is away (RFC 9110 §15.6), and what RFC 8470 says of early data. */
const TRANSIENT_OF_GATEWAYS = [425, 502, 504]

/** Whether a response with this status is worth another request with the same bytes. */
export function isTransientStatus(status: number): boolean {
  const errors = Object.values(errorTable).filter((error) => error.status === status)
  return errors.some(({ retry }) => retry) || TRANSIENT_OF_GATEWAYS.includes(status)
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

/**
 * The wait before a retry, in milliseconds. A Retry-After above 0 gets up to 10 % more, so that not all
 * wake together. Else full jitter: evenly from 0 up to 250 ms · 2^retries and at most 8 s.
 */
export function waitMs(retryAfterMs: number | undefined, retries: number): number {
  if (retryAfterMs) return retryAfterMs * (1 + 0.1 * Math.random())
  return Math.random() * Math.min(8_000, 250 * 2 ** retries)
}
