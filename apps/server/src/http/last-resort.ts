import type { Express, Request, Response } from 'express'
import { contain } from './contain.ts'
import type { PipelineOptions } from './pipeline.ts'
import { sendError } from './reply.ts'
import { RequestError } from './request-error.ts'
import { noteFailure } from './request-log.ts'

/** An app that answers with an Error body even what its own layers have not caught. */
export function withLastResort(
  app: Express,
  options: PipelineOptions,
): (request: Request, response: Response) => void {
  function replyAtLast(thrown: unknown, { socket }: Request, response: Response): void {
    if (response.headersSent) {
      if (!response.writableEnded) socket.destroy()
      return
    }
    // Nobody knows here whether the store was asked.
    const message =
      'something went wrong, and what became of the request is not known; it is safe to send it again'
    const error = new RequestError('outcome_unknown', message, { cause: thrown })
    try {
      noteFailure(options, error, response)
    } catch {
      // Noting it may be what failed.
    }
    contain(socket, options.log, 'answer', () =>
      sendError(response, error, { closesConnection: true }),
    )
  }

  return (request, response) => {
    // All that the app itself would do: the messages have its prototypes, see messageClassesOf.
    request.res = response
    app.router(request, response, (thrown: unknown) => replyAtLast(thrown, request, response))
  }
}
