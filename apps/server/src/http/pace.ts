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
  /** Of what it is owed, what the caller had taken. */
  taken?: Mark | undefined
  /** What it had sent when a body began. */
  sent?: Mark | undefined
  moved?: Mark | undefined
}

/** For how long a number of bytes has been what it is now. */
function stillMs(state: Pace, kind: 'taken' | 'moved', bytes: number, now: number): number {
  const mark = state[kind]?.bytes === bytes ? state[kind] : { bytes, at: now }
  state[kind] = mark
  return now - mark.at
}

/** For how long a caller has taken nothing of what it is owed. */
function unreadMs(socket: Socket, state: Pace, now: number): number {
  if (socket.writableLength > 0) {
    return stillMs(state, 'taken', socket.bytesWritten - socket.writableLength, now)
  }
  state.taken = undefined
  return 0
}

/** Whether a body that is still wanted arrives more slowly than `bytesPerSecond` on average. */
function isBodySlow(socket: Socket, state: Pace, now: number, bytesPerSecond: number): boolean {
  const exchange = latestExchangeOf(socket)
  const isWanted = exchange !== undefined && !exchange.response.headersSent
  // While we do not read, the caller is not to blame.
  if (!isWanted || exchange.request.complete || socket.isPaused()) {
    state.sent = undefined
    return false
  }
  state.sent ??= { bytes: socket.bytesRead, at: now }
  const elapsedMs = now - state.sent.at
  const dueBytes = (bytesPerSecond * elapsedMs) / 1_000
  return elapsedMs > GRACE_MS && socket.bytesRead - state.sent.bytes < dueBytes
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
    if (unreadMs(socket, state, now) > pieceMs) {
      onSlow(socket)
      socket.destroy()
    }
    // Node's own time-out of a connection would make a timer for each request.
    const moved = socket.bytesRead + socket.bytesWritten
    if (stillMs(state, 'moved', moved, now) > longestMs + GONE_MARGIN_MS) socket.destroy()
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
