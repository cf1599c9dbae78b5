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
const owed = Symbol('answers owed')

/** Requests are handled one at a time, so that more of them would only fill the memory. */
const MOST_OWED = 8

/** A property costs less per request than a WeakMap does. */
interface ExchangeSocket extends Socket {
  [latest]?: Exchange | undefined
  [isClosing]?: true
  [owed]?: number
}

/**
 * Whether nothing more of a connection may be parsed now: it is owed as many answers as it may be,
 * or it sends a body of which a piece waits already, because nobody reads it yet.
 */
export function isFull(socket: ExchangeSocket): boolean {
  if ((socket[owed] ?? 0) >= MOST_OWED) return true
  const request = socket[latest]?.request
  if (request === undefined || request.complete || request.readableFlowing === true) return false
  return request.readableLength > 0
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
 * Forgets an exchange that has ended. Held until the connection's next request, the garbage of every
 * connection would outlive the collections in between and be copied by them.
 */
function forget(this: ServerResponse): void {
  const socket: ExchangeSocket = this.req.socket
  socket[owed] = (socket[owed] ?? 1) - 1
  resumeIntake(socket)
  forgetOnceComplete(this)
}

function forgetOnceComplete(response: ServerResponse): void {
  const { req: request } = response
  const socket: ExchangeSocket = request.socket
  // A body that still comes may break the rules, and is judged by what was answered.
  if (!request.complete) request.once('end', () => forgetOnceComplete(response))
  else if (socket[latest]?.response === response) socket[latest] = undefined
}

/**
 * Gives pipelined requests to a handler in turn. Node emits them all at once, but an answer that
 * ends the connection means that what follows it was never asked.
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
    socket[owed] = (socket[owed] ?? 0) + 1
    response.on('close', forget)
    if (previous === undefined || previous.writableEnded) handleUnlessAnswered(socket, exchange)
    else
      previous.once('close', () =>
        contain(socket, log, 'next request', () => handleUnlessAnswered(socket, exchange)),
      )
  }
}
