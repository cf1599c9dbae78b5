import { headerNames } from '@plant-store/contract'
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import { OutcomeUnknownError, StoreUnavailableError } from '../store/store.ts'
import { CallerGoneError } from './body.ts'
import { readableTargetOf } from './framing.ts'
import { contain } from './pipelining.ts'
import { lastError, RequestError, retryAfter } from './request-error.ts'
import { type Listeners, noteCallerGone, noteFailure, noteSuccess } from './request-log.ts'
import {
  type ClosingRules,
  type Content,
  endsConnection,
  sendError,
  sendResponse,
} from './response.ts'

/** What every response of an app depends on. */
export interface PipelineOptions extends Listeners, ClosingRules {}

/** A check of a request before its app. Returns false if it has answered the request. */
export type EarlyCheck = (request: Request, response: Response) => boolean

/** An Express app that matches paths exactly and adds no header of its own. */
export function createBareApp(): Express {
  const app = express()
  return app.disable('x-powered-by').enable('case sensitive routing').enable('strict routing')
}

/**
 * One layer of an app for several, each called when the one before calls `next`: a layer of its own
 * costs the router half a microsecond a request.
 */
export function inOneLayer(handlers: readonly RequestHandler[]): RequestHandler {
  return (request, response, next) => {
    let index = 0
    function goOn(error?: unknown): void {
      const handler = error === undefined ? handlers[index++] : undefined
      if (handler === undefined) {
        next(error)
        return
      }
      try {
        const result: unknown = handler(request, response, goOn)
        if (result instanceof Promise) result.catch(next)
      } catch (thrown) {
        next(thrown)
      }
    }
    goOn()
  }
}

/** Sends a response that is no error, with its own status by default, then notes it. */
export function respond(
  response: Response,
  body: Content['body'],
  options: PipelineOptions,
  more: Partial<Content> = {},
): void {
  const { statusCode: status } = response
  const closesConnection = options.shutdown.hasBegun
  const isSent = sendResponse(response, { status, body, closesConnection, ...more })
  if (isSent) noteSuccess(options, response)
}

export function refuseMethod(...allowed: string[]): RequestHandler {
  return () => {
    throw new RequestError('method_not_allowed', `the methods here: ${allowed.join(', ')}`, {
      headers: [headerNames.allow, allowed.join(', ')],
    })
  }
}

export const refusePath: RequestHandler = () => {
  throw new RequestError('not_found', 'there is nothing at this path')
}

/**
 * Responds with the Error body of an error, and calls `note`. A body in chunks that came in the same
 * packet is parsed first, so that its connection can be kept; if its chunks break the rules, that is
 * what has been answered and noted.
 */
export function refuse(
  response: Response,
  error: RequestError,
  options: PipelineOptions,
  note = () => {},
): void {
  const { req: request } = response
  const send = () => {
    note()
    sendError(response, error, { closesConnection: endsConnection(request, options) })
  }
  const sendUnlessAnswered = () => response.headersSent || send()
  if (request.complete || request.headers['transfer-encoding'] === undefined) send()
  else setImmediate(() => contain(request.socket, options.log, 'refusal', sendUnlessAnswered))
}

function toRequestError(cause: unknown): RequestError {
  if (cause instanceof RequestError) return cause
  if (cause instanceof StoreUnavailableError) {
    const message = `nothing was stored, try again: ${cause.message}`
    return new RequestError('unavailable', message, { headers: retryAfter(), cause })
  }
  if (cause instanceof OutcomeUnknownError) {
    const message = 'the plant may have been stored; it is safe to send it again'
    return new RequestError('outcome_unknown', message, { cause })
  }
  return new RequestError('internal', 'something went wrong and nothing was stored', { cause })
}

/** Last in every app: answers whatever was thrown with an Error body and logs it once. */
export function respondWithError(options: PipelineOptions): ErrorRequestHandler {
  return (thrown, request, response, _next) => {
    if (thrown instanceof CallerGoneError) return noteCallerGone(options, response)
    const error = toRequestError(thrown)
    // A response has begun and failed before it was complete: nothing better can follow it.
    if (response.headersSent && response.locals.isAnswered !== true) request.socket.destroy()
    refuse(response, error, options, () => noteFailure(options, error, response))
  }
}

/**
 * Replaces the target by one that Express can read, and refuses a request without: Express itself
 * would give up before the first layer of an app.
 */
export function readTarget(options: PipelineOptions): EarlyCheck {
  const refuse = respondWithError(options)
  return (request, response) => {
    const target = readableTargetOf(request.url)
    if (target === undefined) {
      const error = lastError('malformed_request', 'the request target is not valid')
      refuse(error, request, response, () => {})
      return false
    }
    request.url = target
    return true
  }
}
