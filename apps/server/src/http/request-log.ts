import type { Response } from 'express'
import type { Logger } from 'pino'
import { pathOf } from './framing.ts'
import type { RequestObserver } from './locals.ts'
import type { RequestError } from './request-error.ts'

/** A request that was not served, as one line of the log: refused at `info`, or failed. */
interface Failure {
  readonly level: 'info' | 'warn' | 'error'
  /** Its fields. `err`, the cause, decides with `error`, its name, what is the same reason. */
  readonly line: { readonly error: string; readonly err?: unknown }
  readonly message: string
}

/** For each reason there is at most one line in this time. */
const SPAN_MS = 1_000

/** Reasons that are told apart at a time; the others share one. */
const MOST_REASONS = 64

/** The messages and codes of an error and its causes; numbers in them, such as ids, do not count. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { name, message, cause } = error
  const { code } = error as NodeJS.ErrnoException
  const own = `${name} ${code} ${message.replaceAll(/\d+/g, '#')}`
  return cause === undefined ? own : `${own}\n${reasonOf(cause)}`
}

/**
 * Logs failures with their cause, and refusals. Where they come in floods, each reason has one line a second: the
 * latest failure, and as `leftOut` how many others have no line. At `debug` each has its line.
 */
export class FailureLog {
  readonly #log: Logger
  readonly #onFailure: () => void
  /** Of each reason with a line in the last second, the failures since. */
  readonly #held = new Map<string, Failure[]>()

  constructor(log: Logger, onFailure = () => {}) {
    this.#log = log
    this.#onFailure = onFailure
  }

  write(failure: Failure): void {
    if (failure.level !== 'info') this.#onFailure()
    const { error, err } = failure.line
    const reason = `${error}\n${reasonOf(err)}`
    const key = this.#held.has(reason) || this.#held.size < MOST_REASONS ? reason : 'others'
    const held = this.#held.get(key)
    if (held === undefined || this.#log.isLevelEnabled('debug')) {
      this.#print(failure)
      if (held === undefined) this.#hold(key)
    } else held.push(failure)
  }

  /** Logs at once what waits for its line. */
  flush(): void {
    for (const key of this.#held.keys()) this.#release(key)
  }

  #hold(key: string): void {
    this.#held.set(key, [])
    setTimeout(() => {
      const hasPrinted = this.#release(key)
      this.#held.delete(key)
      if (hasPrinted) this.#hold(key)
    }, SPAN_MS).unref()
  }

  /** Whether there was something to log. */
  #release(key: string): boolean {
    const held = this.#held.get(key)?.splice(0) ?? []
    const latest = held.at(-1)
    if (latest !== undefined) this.#print(latest, held.length - 1)
    return latest !== undefined
  }

  #print({ level, line, message }: Failure, leftOut = 0): void {
    this.#log[level](leftOut === 0 ? line : { ...line, leftOut }, message)
  }
}

/** What is notified of how requests end. */
export interface Listeners {
  readonly log: Logger
  /** Takes what the server could not serve. */
  readonly failures: FailureLog
  readonly observer?: RequestObserver | undefined
}

/** A path may be as long as the headers; a line of the log may not. */
const LONGEST_PATH = 256

function shorten(text: string): string {
  return text.length <= LONGEST_PATH ? text : `${text.slice(0, LONGEST_PATH)}…`
}

/** To the microsecond: what is beyond it is noise. */
function round(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1_000) / 1_000
}

/** The time since the end of the request's headers; undefined if its turn never came. */
function durationOf({ locals: { beganAt } }: Response): number | undefined {
  return beganAt === undefined ? undefined : performance.now() - beganAt
}

/** What the log says of a request; never its query, its headers or its body. */
function describeRequest(response: Response) {
  const { req: request, locals } = response
  const { requestId, traceId, tokenName, waitMs, commitMs } = locals
  return {
    requestId,
    traceId,
    tokenName,
    method: request.method,
    path: shorten(pathOf(request.url)),
    durationMs: round(durationOf(response)),
    waitMs: round(waitMs),
    commitMs: round(commitMs),
  }
}

/** Counts a response that is no error, and logs it at `debug`. */
export function noteSuccess({ log, observer }: Listeners, response: Response): void {
  const { outcome } = response.locals
  const status = response.statusCode
  if (outcome !== undefined) observer?.answered(outcome, status, durationOf(response))
  // Checked first, because describing costs more than everything else here.
  if (!log.isLevelEnabled('debug')) return
  log.debug({ ...describeRequest(response), status, outcome }, 'answered')
}

/**
 * One line: what the server could not serve with its cause, refusals without. Refusals of a limit
 * are counted elsewhere, and those of callers without a valid token share lines, so that a flood of
 * them does not fill the log.
 */
function logFailure(
  { log, failures }: Listeners,
  error: RequestError,
  about: object & { readonly tokenName?: string | undefined },
): void {
  const { status, code, errorName, message, cause } = error
  const line = { ...about, status, code, error: errorName }
  if (status === 500) failures.write({ level: 'error', line: { ...line, err: cause }, message })
  else if (status === 503 && cause !== undefined) {
    failures.write({ level: 'warn', line: { ...line, err: cause }, message })
  } else if (errorName === 'too_many_requests') log.debug(line, message)
  else if (about.tokenName === undefined) failures.write({ level: 'info', line, message })
  else log.info(line, message)
}

/** Counts and logs a request that is answered with an Error body. */
export function noteFailure(listeners: Listeners, error: RequestError, response: Response): void {
  listeners.observer?.answered(error.errorName, error.status, durationOf(response))
  response.locals.outcome = error.errorName
  logFailure(listeners, error, describeRequest(response))
}

/** Counts and logs bytes that were answered with an Error body and never became a request. */
export function noteRefusedBytes(
  listeners: Listeners,
  error: RequestError,
  about: { readonly requestId: string; readonly remoteAddress: string | undefined },
): void {
  listeners.observer?.answered(error.errorName, error.status, undefined)
  logFailure(listeners, error, about)
}

/** Logs at `debug` a request that ended before it was complete, so that nobody waits for a response. */
export function noteCallerGone({ log }: Listeners, response: Response): void {
  if (log.isLevelEnabled('debug')) log.debug(describeRequest(response), 'the caller went away')
}
