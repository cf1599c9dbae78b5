import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * How long a caller may go on sending after the last reply: in all, and without a byte; both are
 * nginx's times. Closing at once would reset the connection, which can destroy the reply on its
 * way, and a proxy that still sends takes it for a failure of the server (RFC 9112 §9.6).
 */
const LINGER_MS = 30_000
const SILENCE_MS = 5_000

/** Connections that may linger at a time, in the whole process. */
const LINGERING_LIMIT = 256

/** When each began, by performance.now(); the oldest first. */
const lingering = new Map<Socket, number>()

/** Whether a connection has had its last reply, and is open only until its caller stops sending. */
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket)
}

/** Whether a connection has lingered for longer than a time. */
export function hasLingered(socket: Socket, forMs: number): boolean {
  const beganAt = lingering.get(socket)
  return beganAt !== undefined && performance.now() - beganAt > forMs
}

/**
 * How many bytes are read and dropped in each interval, from all lingering connections together:
 * 100 MiB/s. Without it, callers who send at full speed would block the event loop for all others.
 */
const DROPPED_BYTES = 2_097_152
const DROPPED_WITHIN_MS = 20

/** The most bytes that one read of a socket returns. */
const READ_BYTES = 65_536

let allowance = DROPPED_BYTES
let isRefillDue = false

/** Connections that are not read until there is an allowance again, in turn. */
const paused: Socket[] = []

function allowMore(): void {
  isRefillDue = false
  if (paused.length > 0) allowLater()
  allowance = DROPPED_BYTES
  for (const socket of paused.splice(0, DROPPED_BYTES / READ_BYTES)) socket.resume()
}

function allowLater(): void {
  if (isRefillDue) return
  isRefillDue = true
  setTimeout(allowMore, DROPPED_WITHIN_MS)
}

function dropWhatComes(socket: Socket): void {
  // Removes Node's parser.
  socket.removeAllListeners('data')
  socket.on('data', (chunk) => {
    allowLater()
    allowance -= chunk.length
    if (allowance > 0) return
    socket.pause()
    paused.push(socket)
  })
  socket.resume()
}

/**
 * Ends the sending side of a connection, and closes it once its caller has closed it, has sent
 * nothing for 5 s or has gone on for 30 s. What still arrives is read and dropped. If 256 linger
 * already, the oldest is closed: its reply has had the most time to arrive.
 */
export function linger(socket: Socket): void {
  const close = () => void socket.destroy()
  const [oldest] = lingering.keys()
  if (lingering.size >= LINGERING_LIMIT && oldest !== undefined) {
    // At once, because others may begin to linger before its close event.
    lingering.delete(oldest)
    oldest.destroy()
  }
  lingering.set(socket, performance.now())
  const deadline = setTimeout(close, LINGER_MS)
  socket.setTimeout(SILENCE_MS, close)
  socket.once('end', close)
  socket.once('close', () => {
    clearTimeout(deadline)
    lingering.delete(socket)
  })
  socket.end()
  dropWhatComes(socket)
}

/**
 * Ends the last reply on a connection, whose headers have been written. If the request's body has
 * not arrived completely, the connection lingers: see linger.
 */
export function endAndClose(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Uint8Array,
): void {
  if (!request.complete) {
    const { socket } = request
    const { destroySoon } = socket
    // Node calls this after the reply, to close the connection without reading on.
    socket.destroySoon = () => {
      socket.destroySoon = destroySoon
      if (request.complete) socket.destroySoon()
      else linger(socket)
    }
    request.resume()
  }
  response.end(body)
}
