import type { Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { hasLingered } from './lingering-close.ts'

/**
 * How often a closing server ends connections without a request in flight. The first wait lets the
 * server read requests that have already arrived.
 */
const SWEEP_MS = 100

/** How long a caller that has its last reply may go on sending while the server closes. */
const LINGER_MS = 1_000

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
export function connectionsOf(server: Server): Iterable<Socket> {
  return tracked.get(server) ?? []
}

/** How many connections of such a server are open. */
export function countConnections(server: Server): number {
  return tracked.get(server)?.size ?? 0
}

/**
 * Ends idle connections that Node counts as busy: those that never sent a byte, and those whose
 * caller goes on sending after the reply.
 */
function closeIdleForNode(server: Server): void {
  for (const socket of connectionsOf(server)) {
    if (socket.bytesRead === 0 || hasLingered(socket, LINGER_MS)) socket.destroy()
  }
}

/**
 * Stops accepting connections, ends idle ones, lets requests in flight be answered, and closes the
 * remaining connections after the deadline.
 */
export function closeListener(server: Server, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
    // Repeatedly: a reply that was on its way at the first sweep leaves its connection open.
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
