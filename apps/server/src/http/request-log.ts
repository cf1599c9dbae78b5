import type { Request, Response } from 'express'
import type { Logger } from 'pino'
import './locals.ts'
import type { RequestError } from './request-error.ts'
import type { RequestObserver } from './request-observer.ts'
import { pathOf } from './target.ts'

/** Whoever is told how requests end. */
export interface Listeners {
  readonly log: Logger
  readonly observer?: RequestObserver | undefined
}

/** A path may be as long as the headers may be; a line of the log may not. */
const LONGEST_PATH = 256

function shorten(text: string): string {
  return text.length <= LONGEST_PATH ? text : `${text.slice(0, LONGEST_PATH)}…`
}

/** To the microsecond: what is beyond it is noise. */
function round(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1_000) / 1_000
}

/** Since the end of the request's headers; undefined for a request whose turn never came. */
function durationOf({ locals }: Response): number | undefined {
  return locals?.beganAt === undefined ? undefined : performance.now() - locals.beganAt
}

/** What the log says of a request; never its query, its headers or its body. */
function describeRequest(request: Request, response: Response): object {
  const { traceId, tokenName, waitMs, commitMs } = response.locals ?? {}
  return {
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
export function noteSuccess({ log, observer }: Listeners, request: Request, response: Response) {
  const { outcome, requestId } = response.locals
  const status = response.statusCode
  if (outcome !== undefined) observer?.answered(outcome, status, durationOf(response))
  // Asked first, because describing costs more than everything else here.
  if (!log.isLevelEnabled('debug')) return
  log.debug({ requestId, ...describeRequest(request, response), status, outcome }, 'answered')
}

/**
 * One line: errors of the server with their cause, refusals without. Those of a limit are counted
 * elsewhere, so that a flood of them is none of the log.
 */
function logFailure(log: Logger, error: RequestError, about: object): void {
  const { status, code, errorName, message, cause } = error
  const line = { ...about, status, code, error: errorName }
  if (status === 500) log.error({ ...line, err: cause }, message)
  else if (errorName === 'too_many_requests') log.debug(line, message)
  else log.info(line, message)
}

/** Counts and logs a request that is answered with an Error body. */
export function noteFailure(
  { log, observer }: Listeners,
  error: RequestError,
  requestId: string,
  request: Request,
  response: Response,
): void {
  observer?.answered(error.errorName, error.status, durationOf(response))
  // A request whose turn never came has no locals.
  if (response.locals !== undefined) response.locals.outcome = error.errorName
  logFailure(log, error, { requestId, ...describeRequest(request, response) })
}

/** Counts and logs bytes that were answered with an Error body and never became a request. */
export function noteRefusedBytes(
  { log, observer }: Listeners,
  error: RequestError,
  requestId: string,
  remoteAddress: string | undefined,
): void {
  observer?.answered(error.errorName, error.status, undefined)
  logFailure(log, error, { requestId, remoteAddress })
}

/** Logs at `debug` a request that ended before it was whole, so that nobody was there to answer. */
export function noteCallerGone({ log }: Listeners, request: Request, response: Response): void {
  if (!log.isLevelEnabled('debug')) return
  const { requestId } = response.locals
  log.debug({ requestId, ...describeRequest(request, response) }, 'the caller went away')
}
