import type { IncomingMessage, Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'

/**
 * How long a caller may go on sending after the last response: in all, and without a byte; both are
 * nginx's times. Closing at once would reset the connection, which can destroy the response on its
 * way, and a proxy that still sends takes it for a failure of the server (RFC 9112 §9.6).
 */
const LINGER_MS = 30_000
const SILENCE_MS = 5_000

/** The same while the server closes. */
const LINGER_AT_END_MS = 1_000

/** Connections that may linger at a time. */
const LINGERING_LIMIT = 256

/**
 * How often a closing server ends connections without a request in flight. The first wait lets the
 * server read requests that have already arrived.
 */
const SWEEP_MS = 100

/** When each began to linger, by performance.now(); the oldest first. */
const lingering = new Map<Socket, number>()

/** Whether a connection has had its last response, and is open only until its caller stops sending. */
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket)
}

/** Reads and drops what comes: 64 KiB at a time, and 64 MiB in a second of all that linger. */
function dropWhatComes(socket: Socket): void {
  // Removes Node's parser.
  socket.removeAllListeners('data')
  socket.on('data', () => {
    // Callers who send at full speed would take the event loop from all others.
    socket.pause()
    setTimeout(() => socket.resume(), lingering.size)
  })
  socket.resume()
}

/**
 * Ends the sending side of a connection, and closes it once its caller has closed it, has sent
 * nothing for 5 s or has gone on for 30 s. If 256 linger already, the oldest is closed: its response
 * has had the most time to arrive.
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

/** Lets a connection linger after its last response if the request's body has not arrived completely. */
export function lingerAfter(request: IncomingMessage): void {
  if (request.complete) return
  const { socket } = request
  const { destroySoon } = socket
  // Node calls this after the response, to close the connection without reading on; there is no other
  // way to keep it from that.
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon
    if (request.complete) socket.destroySoon()
    else linger(socket)
  }
  request.resume()
}

const tracked = new WeakMap<Server, Set<Socket>>()

/** Remembers the open connections of a server; call it before the server listens. */
export function trackConnections(server: Server): void {
  const connections = new Set<Socket>()
  tracked.set(server, connections)
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
}

/** The open connections of a server that trackConnections was called for. */
export function connectionsOf(server: Server): ReadonlySet<Socket> {
  return tracked.get(server) ?? new Set()
}

/**
 * Ends idle connections that Node counts as busy: those that never sent a byte, and those whose
 * caller goes on sending after the response.
 */
function closeIdleForNode(server: Server): void {
  const now = performance.now()
  for (const socket of connectionsOf(server)) {
    const lingeredMs = now - (lingering.get(socket) ?? now)
    if (socket.bytesRead === 0 || lingeredMs > LINGER_AT_END_MS) socket.destroy()
  }
}

/**
 * Stops accepting connections, ends idle ones, lets requests in flight be answered, and closes the
 * remaining connections after the deadline.
 */
export function closeServer(server: Server, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
    // Repeatedly: a response that was on its way at the first sweep leaves its connection open.
    const sweep = setInterval(() => {
      server.closeIdleConnections()
      closeIdleForNode(server)
    }, SWEEP_MS)
    // Not the close of Node's HTTP server, which ends idle connections at once: the next request of
    // a busy caller may already be on its way, and would be reset.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(deadline)
      clearInterval(sweep)
      resolve()
    })
  })
}
