import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { connectionsOf } from './close.ts'
import { contain, latestExchangeOf } from './pipelining.ts'
import { PIECE_BYTES } from './response.ts'

/** Slower than any network that is in use. */
const MIN_DATA_RATE_BYTES = 1_024

/** How often connections are checked: the precision of both rules. */
const LOOK_MS = 500

/** If nothing moves on a connection for this much longer than a request may take, the caller is gone. */
const GONE_MARGIN_MS = 30_000

/** How long a body may be slow at first: a phone changes its network in that time. */
const GRACE_MS = 5_000

export interface PaceOptions {
  /** What a caller must send of a body, and read of a response, in a second. Default: 1,024. */
  readonly minDataRateBytes?: number
  /** How long a request, and the time between two of them, may take. */
  readonly longestMs: number
  /** Notified of each connection that is ended or refused. */
  readonly onSlow: (socket: Socket) => void
  readonly log: Logger
}

/** A number of bytes that a connection had transferred at a time. */
interface Mark {
  readonly bytes: number
  readonly at: number
}

interface Pace {
  taken?: Mark | undefined
  sent?: Mark | undefined
  moved?: Mark
}

/** Whether a body is on its way that is still wanted. */
function isSendingBody(socket: Socket): boolean {
  const exchange = latestExchangeOf(socket)
  return exchange !== undefined && !exchange.request.complete && !exchange.response.headersSent
}

/** Whether a caller has taken nothing of what it is owed for longer than `limitMs`. */
function isUnread(socket: Socket, state: Pace, now: number, limitMs: number): boolean {
  if (socket.writableLength === 0) {
    state.taken = undefined
    return false
  }
  const bytes = socket.bytesWritten - socket.writableLength
  if (state.taken?.bytes !== bytes) state.taken = { bytes, at: now }
  return now - state.taken.at > limitMs
}

/** Whether a body arrives more slowly than `bytesPerSecond` on average. */
function isBodySlow(socket: Socket, state: Pace, now: number, bytesPerSecond: number): boolean {
  // While we do not read, the caller is not to blame.
  if (!isSendingBody(socket) || socket.isPaused()) {
    state.sent = undefined
    return false
  }
  state.sent ??= { bytes: socket.bytesRead, at: now }
  const elapsedMs = now - state.sent.at
  const dueBytes = (bytesPerSecond * elapsedMs) / 1_000
  return elapsedMs > GRACE_MS && socket.bytesRead - state.sent.bytes < dueBytes
}

/**
 * Whether no byte has come or gone for longer than `limitMs`. Node's own time-out of a connection would
 * make a timer for each request.
 */
function isGone(socket: Socket, state: Pace, now: number, limitMs: number): boolean {
  const bytes = socket.bytesRead + socket.bytesWritten
  if (state.moved?.bytes !== bytes) state.moved = { bytes, at: now }
  return now - state.moved.at > limitMs
}

/**
 * Ends connections whose callers do not read their responses, and refuses bodies that arrive too
 * slowly, so that neither keeps a request in flight for long. A response is written in pieces of 16 KiB:
 * a caller who takes none in the time that one may take does not read. A body must arrive at the
 * rate on average, once it has lasted for five seconds. A connection on which nothing moves for half
 * a minute more than anything may take is ended as well.
 */
export function keepPace(server: Server, options: PaceOptions): void {
  const { minDataRateBytes = MIN_DATA_RATE_BYTES, longestMs, onSlow, log } = options
  const pieceMs = (PIECE_BYTES / minDataRateBytes) * 1_000
  const paces = new WeakMap<Socket, Pace>()

  function check(socket: Socket, state: Pace, now: number): void {
    if (isUnread(socket, state, now, pieceMs)) {
      onSlow(socket)
      socket.destroy()
    }
    if (isGone(socket, state, now, longestMs + GONE_MARGIN_MS)) socket.destroy()
    if (isBodySlow(socket, state, now, minDataRateBytes)) {
      onSlow(socket)
      // What Node emits for a request that is overdue.
      const late = Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      server.emit('clientError', late, socket)
    }
  }

  const timer = setInterval(() => {
    const now = performance.now()
    for (const socket of connectionsOf(server)) {
      const state = paces.get(socket) ?? {}
      paces.set(socket, state)
      contain(socket, log, 'pace', () => check(socket, state, now))
    }
  }, LOOK_MS)
  timer.unref()
  server.once('close', () => clearInterval(timer))
}
