import { type ErrorName, encodeJson, type JsonWritable } from '@plant-store/contract'
import express, {
  type ErrorRequestHandler,
  type Express,
  type RequestHandler,
  type Response,
} from 'express'
import { OutcomeUnknownError, StoreUnavailableError } from '../store/store.ts'
import { CallerGoneError } from './body.ts'
import type { DeferReply } from './deferred-replies.ts'
import { checkFraming } from './framing.ts'
import { errorBodyOf, hasUnwantedBody, isCutOff, requestIdOf, sendReply } from './reply.ts'
import './locals.ts'
import { RequestError } from './request-error.ts'
import { type Listeners, noteCallerGone, noteFailure, noteSuccess } from './request-log.ts'

export interface PipelineOptions extends Listeners {
  /** A body up to this many bytes is read to its end even if it is refused. */
  readonly bodyLimitBytes: number
  /** While true, each reply is the last on its connection. */
  readonly isDraining: () => boolean
  /** Has strangers and callers over a limit wait behind those that were let in. */
  readonly deferReply?: DeferReply
}

/** When a caller should try again after 503, in seconds. */
const RETRY_AFTER_SECONDS = '1'

/** An Express app that routes exactly, and replies JSON with the headers of this service only. */
export function createBareApp(options: PipelineOptions): Express {
  const app = express()
  app.disable('x-powered-by').enable('case sensitive routing').enable('strict routing')
  app.response.json = function (this: Response, value: JsonWritable) {
    const isSent = sendReply(this.req, this, {
      status: this.statusCode,
      body: encodeJson(value),
      requestId: this.locals.requestId,
      closesConnection: options.isDraining(),
    })
    if (isSent) noteSuccess(options, this.req, this)
    return this
  }
  return app
}

/** First in every app: gives the request its id and refuses what HTTP/1.1 forbids. */
export const beginRequest: RequestHandler = (request, response, next) => {
  response.locals.requestId = requestIdOf(request)
  response.locals.beganAt = performance.now()
  checkFraming(request)
  next()
}

export function refuseMethod(...allowed: string[]): RequestHandler {
  return () => {
    throw new RequestError('method_not_allowed', `the methods here: ${allowed.join(', ')}`, {
      headers: ['allow', allowed.join(', ')],
    })
  }
}

export const refusePath: RequestHandler = () => {
  throw new RequestError('not_found', 'there is nothing at this path')
}

function toRequestError(cause: unknown): RequestError {
  if (cause instanceof RequestError) return cause
  if (cause instanceof StoreUnavailableError) {
    return new RequestError('unavailable', `nothing was stored, try again: ${cause.message}`, {
      headers: ['retry-after', RETRY_AFTER_SECONDS],
      cause,
    })
  }
  if (cause instanceof OutcomeUnknownError) {
    const message = 'the plant may have been stored; it is safe to send it again'
    return new RequestError('outcome_unknown', message, { cause })
  }
  return new RequestError('internal', 'something went wrong and nothing was stored', { cause })
}

/** Refusals that may come in floods. */
const floods = new Set<ErrorName>(['missing_credentials', 'invalid_token', 'too_many_requests'])

/** Last in every app: answers whatever was thrown with an Error body and logs it once. */
export function replyError(options: PipelineOptions): ErrorRequestHandler {
  const { bodyLimitBytes, isDraining, deferReply } = options
  return (thrown, request, response, _next) => {
    if (thrown instanceof CallerGoneError) return noteCallerGone(options, request, response)
    const error = toRequestError(thrown)
    const { requestId } = response.locals
    noteFailure(options, error, requestId, request, response)
    const tell = () => {
      // What failed was the reply itself: nothing better can follow it.
      if (isCutOff(response)) request.socket.destroy()
      sendReply(request, response, {
        status: error.status,
        body: errorBodyOf(error),
        requestId,
        headers: error.headers,
        closesConnection:
          error.closesConnection || isDraining() || hasUnwantedBody(request, bodyLimitBytes),
      })
    }
    if (deferReply !== undefined && floods.has(error.errorName)) deferReply(request.socket, tell)
    else tell()
  }
}
