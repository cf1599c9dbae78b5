import { type ErrorName, headerNames } from '@plant-store/contract'
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import { OutcomeUnknownError, StoreUnavailableError } from '../store/store.ts'
import { CallerGoneError } from './body.ts'
import type { DeferReply } from './deferred-replies.ts'
import {
  type ClosingRules,
  endsConnection,
  isCutOff,
  type Reply,
  sendError,
  sendReply,
} from './reply.ts'
import { RequestError, retryAfter } from './request-error.ts'
import { type Listeners, noteCallerGone, noteFailure, noteSuccess } from './request-log.ts'
import { readableTargetOf } from './target.ts'

/** What every reply of an app depends on. */
export interface PipelineOptions extends Listeners, ClosingRules {
  /** Lets refusals that may come in floods wait; without it they are sent at once. */
  readonly deferReply?: DeferReply
}

/** A check of a request before its app. Returns false if it has answered the request, or will. */
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

/** Sends a reply that is no error, with the status of the response by default, then notes it. */
export function reply(
  response: Response,
  body: Reply['body'],
  options: PipelineOptions,
  more: Partial<Reply> = {},
): void {
  const { statusCode: status } = response
  const closesConnection = options.isDraining()
  const isSent = sendReply(response, { status, body, closesConnection, ...more })
  if (isSent) noteSuccess(options, response)
}

/**
 * Replaces the target by one that Express can read, and refuses a request without: Express itself
 * would give up before the first layer of an app.
 */
export function readTarget(options: PipelineOptions): EarlyCheck {
  const refuse = replyError(options)
  return (request, response) => {
    const target = readableTargetOf(request.url)
    if (target === undefined) {
      const message = 'the request target is not valid'
      const error = new RequestError('malformed_request', message, { closesConnection: true })
      refuse(error, request, response, () => {})
      return false
    }
    request.url = target
    return true
  }
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

/** Refusals that may come in floods. */
const floods = new Set<ErrorName>(['missing_credentials', 'invalid_token', 'too_many_requests'])

/** Last in every app: answers whatever was thrown with an Error body and logs it once. */
export function replyError(options: PipelineOptions): ErrorRequestHandler {
  const { deferReply } = options
  return (thrown, request, response, _next) => {
    if (thrown instanceof CallerGoneError) return noteCallerGone(options, response)
    const error = toRequestError(thrown)
    noteFailure(options, error, response)
    const send = () => {
      // The reply itself has failed: nothing better can follow it.
      if (isCutOff(response)) request.socket.destroy()
      sendError(response, error, { closesConnection: endsConnection(request, options) })
    }
    if (deferReply !== undefined && floods.has(error.errorName)) deferReply(request.socket, send)
    else send()
  }
}
