import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** The requests of each connection, one after the other. */
export interface Exchanges {
  readonly listener: RequestListener
  /** The newest exchange of a connection, whether its turn has come or not. */
  latestOf(socket: Socket): Exchange | undefined
}

const closing = new WeakSet<Socket>()

/** From now on no request of this connection is handled (RFC 9112 §9.6). */
export function markAsClosing(socket: Socket): void {
  closing.add(socket)
}

/**
 * Gives pipelined requests to a handler in turn. Node emits them all at once, but an answer that
 * ends the connection means that what follows it was never asked.
 */
export function handleInTurn(handle: RequestListener): Exchanges {
  const latest = new WeakMap<Socket, Exchange>()

  function handleUnlessAnswered({ request, response }: Exchange): void {
    if (!closing.has(request.socket) && !response.headersSent) handle(request, response)
  }

  return {
    latestOf: (socket) => latest.get(socket),
    listener(request, response) {
      const previous = latest.get(request.socket)?.response
      const exchange = { request, response }
      latest.set(request.socket, exchange)
      if (previous === undefined || previous.writableEnded) handleUnlessAnswered(exchange)
      else previous.once('close', () => handleUnlessAnswered(exchange))
    },
  }
}
