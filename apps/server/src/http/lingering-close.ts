import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * How long a caller may go on sending what nobody reads: in all, and without a byte, as nginx has
 * it. To close at once would reset the connection, which can destroy the reply on its way, and
 * which a proxy that still sends takes for a failure of the server (RFC 9112 §9.6).
 */
const LINGER_MS = 30_000
const SILENCE_MS = 5_000

/** Connections that may linger at a time, of all servers of the process. */
const LINGERING_LIMIT = 256

/** When each began, as `performance.now()`; the longest first. */
const lingering = new Map<Socket, number>()

/** Whether a connection has had its last reply, and is only read until its caller is done. */
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket)
}

/** Whether it has been so for longer than this. */
export function hasLingered(socket: Socket, forMs: number): boolean {
  const beganAt = lingering.get(socket)
  return beganAt !== undefined && performance.now() - beganAt > forMs
}

/**
 * How many bytes are read to be dropped in how long, from all that linger: 100 MiB/s. Without it
 * callers who send at full speed would keep the event loop from everybody else.
 */
const DROPPED_BYTES = 2_097_152
const DROPPED_WITHIN_MS = 20

/** What one read of a socket gives at most. */
const READ_BYTES = 65_536

let allowance = DROPPED_BYTES
let isRefillDue = false

/** Those that are not read until there is an allowance again, in turn. */
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
  // From now on Node's parser sees nothing of it.
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
 * Ends the sending side of a connection, and closes it once its caller has closed, has sent nothing
 * for 5 s or has gone on for 30 s. What still comes is read and dropped. One more than 256 closes the
 * one that has lingered longest: its reply has had the most time to arrive.
 */
export function linger(socket: Socket): void {
  const close = () => void socket.destroy()
  const [longest] = lingering.keys()
  if (lingering.size >= LINGERING_LIMIT && longest !== undefined) {
    // Its close comes later, and others may begin to linger in the same turn.
    lingering.delete(longest)
    longest.destroy()
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
 * Sends a reply, the last one on its connection, whose headers have been written. Where the body
 * has not come whole, the connection is closed when its caller is done: see linger.
 */
export function endAndClose(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Uint8Array,
): void {
  if (!request.complete) {
    const { socket } = request
    const { destroySoon } = socket
    // What Node calls after the reply, to close the connection without reading on.
    socket.destroySoon = () => {
      socket.destroySoon = destroySoon
      if (request.complete) socket.destroySoon()
      else linger(socket)
    }
    request.resume()
  }
  response.end(body)
}
