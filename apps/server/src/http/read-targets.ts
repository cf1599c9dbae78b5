import type { IncomingMessage, RequestListener } from 'node:http'
import type { Request, Response } from 'express'
import { type PipelineOptions, replyError } from './pipeline.ts'
import { requestIdOf } from './reply.ts'
import { RequestError } from './request-error.ts'
import { readableTargetOf } from './target.ts'

/**
 * Hands on requests with a target that Express can read, and replies the others: Express itself
 * would give up before the first layer of an app.
 */
export function readTargets(handle: RequestListener, options: PipelineOptions): RequestListener {
  const reply = replyError(options)
  const refuse = (request: Request, response: Response) => {
    const error = new RequestError('malformed_request', 'the request target is not valid', {
      closesConnection: true,
    })
    response.locals = { requestId: requestIdOf(request), beganAt: performance.now() }
    reply(error, request, response, () => {})
  }

  return (request: IncomingMessage, response) => {
    const target = readableTargetOf(request.url ?? '')
    // Made of the app's classes: see messageClassesOf.
    if (target === undefined) return refuse(request as Request, response as Response)
    request.url = target
    handle(request, response)
  }
}
