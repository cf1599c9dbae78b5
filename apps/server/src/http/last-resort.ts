import type { RequestListener } from 'node:http'
import type { Express, Request, Response } from 'express'
import { contain } from './contain.ts'
import type { PipelineOptions } from './pipeline.ts'
import { errorBodyOf, requestIdOf, sendReply } from './reply.ts'
import { RequestError } from './request-error.ts'
import { noteFailure } from './request-log.ts'

/** An app that answers with an Error body even what has escaped its own layers. */
export function withLastResort(app: Express, options: PipelineOptions): RequestListener {
  function replyAtLast(thrown: unknown, request: Request, response: Response): void {
    if (response.headersSent) {
      if (!response.writableEnded) request.socket.destroy()
      return
    }
    // Whether the store was asked is not known here.
    const message =
      'something went wrong, and what became of the request is not known; it is safe to send it again'
    const error = new RequestError('outcome_unknown', message, { cause: thrown })
    const requestId = requestIdOf(request)
    try {
      noteFailure(options, error, requestId, request, response)
    } catch {
      // To note it may be what went wrong.
    }
    contain(request.socket, options.log, 'answer', () =>
      sendReply(request, response, {
        status: error.status,
        body: errorBodyOf(error),
        requestId,
        closesConnection: true,
      }),
    )
  }

  return (request, response) => {
    const ask = request as Request
    const reply = response as Response
    app(ask, reply, (thrown: unknown) => replyAtLast(thrown, ask, reply))
  }
}
