import type { Socket } from 'node:net'
import type { Logger } from 'pino'

/** Where a connection calls our code. */
export type Boundary = 'open' | 'read' | 'drain' | 'next request' | 'answer' | 'refusal' | 'pace'

/** Ends a connection because of an exception, and logs that with the place. */
export function endByException(socket: Socket, log: Logger, where: Boundary, err: unknown): void {
  const { remoteAddress } = socket
  socket.destroy()
  log.error({ err, where, remoteAddress }, 'an exception ended a connection')
}

/**
 * Runs a listener of a connection. What it throws ends that connection only; uncaught, it would end
 * the process.
 */
export function contain(socket: Socket, log: Logger, where: Boundary, listen: () => void): void {
  try {
    listen()
  } catch (err) {
    endByException(socket, log, where, err)
  }
}
