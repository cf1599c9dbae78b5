import type { Socket } from 'node:net'
import type { Logger } from 'pino'

/** Where our code is called by a connection, and not by ourselves. */
export type Boundary = 'open' | 'read' | 'drain' | 'next request' | 'answer' | 'refusal' | 'pace'

/** Ends a connection by an exception, which is logged with the place. */
export function endByException(socket: Socket, log: Logger, where: Boundary, err: unknown): void {
  const { remoteAddress } = socket
  socket.destroy()
  log.error({ err, where, remoteAddress }, 'an exception ended a connection')
}

/**
 * Runs what listens to a connection. What it throws ends that connection alone; outside of this it
 * would end the process.
 */
export function contain(socket: Socket, log: Logger, where: Boundary, listen: () => void): void {
  try {
    listen()
  } catch (err) {
    endByException(socket, log, where, err)
  }
}
