import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { contain } from './contain.ts'
import { resumeIntake } from './intake.ts'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const latest = Symbol('latest exchange')
const isClosing = Symbol('is closing')

/** A property costs less per request than a WeakMap does. */
interface ExchangeSocket extends Socket {
  [latest]?: Exchange | undefined
  [isClosing]?: true
}

/** Whether nothing more of a connection may be parsed now: it owes the reply to a complete request. */
export function isFull(socket: ExchangeSocket): boolean {
  return socket[latest]?.request.complete === true
}

/** From now on no request of this connection is handled (RFC 9112 §9.6). */
export function markAsClosing(socket: ExchangeSocket): void {
  socket[isClosing] = true
}

/** The newest exchange of a connection that has not ended, whether its turn has come or not. */
export function latestExchangeOf(socket: ExchangeSocket): Exchange | undefined {
  return socket[latest]
}

/**
 * Forgets an exchange that has ended. If it were kept until the connection's next request, each
 * connection's garbage would survive the collections in between and be copied by them.
 */
function forget(this: ServerResponse): void {
  const { req: request } = this
  const socket: ExchangeSocket = request.socket
  // A body that is still arriving may break the rules; what happens then depends on the reply.
  if (!request.complete) request.once('end', () => forget.call(this))
  else if (socket[latest]?.response === this) socket[latest] = undefined
  resumeIntake(socket)
}

/**
 * Gives pipelined requests to a handler in turn: each waits for the reply to the one before it. If
 * that reply ends the connection, the request is not handled at all.
 */
export function handleInTurn(handle: RequestListener, log: Logger): RequestListener {
  function handleUnlessAnswered(socket: ExchangeSocket, { request, response }: Exchange): void {
    // After a connection that CONNECT has taken from Node, nothing would ever close this response.
    if (socket.destroyed) return
    if (!socket[isClosing] && !response.headersSent) handle(request, response)
  }

  return (request, response) => {
    const socket: ExchangeSocket = request.socket
    const previous = socket[latest]?.response
    const exchange = { request, response }
    socket[latest] = exchange
    response.on('close', forget)
    if (previous === undefined || previous.writableEnded) handleUnlessAnswered(socket, exchange)
    else
      previous.once('close', () =>
        contain(socket, log, 'next request', () => handleUnlessAnswered(socket, exchange)),
      )
  }
}
