import type { Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { hasLingered } from './lingering-close.ts'

/**
 * How often a closing server ends the connections that nothing is in flight on; the first time gives
 * a request that has arrived but is not read the time to be.
 */
const SWEEP_MS = 100

/** How long one that has had its last reply may go on sending meanwhile. */
const LINGER_MS = 1_000

const tracked = new WeakMap<Server, Set<Socket>>()

/** Remembers the open connections of a server, so that closeListener finds those Node forgets. */
export function trackConnections(server: Server): void {
  const connections = new Set<Socket>()
  tracked.set(server, connections)
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
}

/** The open connections of a server that trackConnections has seen from its start. */
export function connectionsOf(server: Server): Iterable<Socket> {
  return tracked.get(server) ?? []
}

/**
 * Node counts a connection that never sent a byte as busy until its header is overdue, and one whose
 * caller sends on after the reply until that ends.
 */
function closeIdleForNode(server: Server): void {
  for (const socket of connectionsOf(server)) {
    if (socket.bytesRead === 0 || hasLingered(socket, LINGER_MS)) socket.destroy()
  }
}

/**
 * Stops accepting, ends idle connections, lets what is in flight be answered, and closes what is
 * left after the deadline.
 */
export function closeListener(server: Server, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
    // Again and again: a reply that was on its way at the signal leaves its connection open.
    const sweep = setInterval(() => {
      server.closeIdleConnections()
      closeIdleForNode(server)
    }, SWEEP_MS)
    // Not the close of HTTP's own server, which cuts idle connections at once: a busy caller's next
    // request may be on its way on them, and would be reset.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(deadline)
      clearInterval(sweep)
      resolve()
    })
  })
}
