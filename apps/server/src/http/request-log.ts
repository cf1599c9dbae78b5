import type { Response } from 'express'
import type { Logger } from 'pino'
import type { FailureLog } from './failure-log.ts'
import './locals.ts'
import type { RequestError } from './request-error.ts'
import type { RequestObserver } from './request-observer.ts'
import { pathOf } from './target.ts'

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
function describeRequest(response: Response): object {
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

/** Counts a reply that is no error, and logs it at `debug`. */
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
 * are counted elsewhere, so that a flood of them does not fill the log.
 */
function logFailure({ log, failures }: Listeners, error: RequestError, about: object): void {
  const { status, code, errorName, message, cause } = error
  const line = { ...about, status, code, error: errorName }
  if (status === 500) failures.write({ level: 'error', line: { ...line, err: cause }, message })
  else if (status === 503 && cause !== undefined) {
    failures.write({ level: 'warn', line: { ...line, err: cause }, message })
  } else if (errorName === 'too_many_requests') log.debug(line, message)
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

/** Logs at `debug` a request that ended before it was complete, so that nobody waits for a reply. */
export function noteCallerGone({ log }: Listeners, response: Response): void {
  if (log.isLevelEnabled('debug')) log.debug(describeRequest(response), 'the caller went away')
}
