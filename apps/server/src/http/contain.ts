import type { Socket } from 'node:net'
import type { Logger } from 'pino'

/** Where our code is called by a connection, and not by ourselves. */
export type Boundary =
  | 'open'
  | 'read'
  | 'body'
  | 'drain'
  | 'next request'
  | 'answer'
  | 'refusal'
  | 'pace'

/**
 * Runs what listens to a connection. What it throws ends that connection alone, and is logged with
 * the place; outside of this it would end the process.
 */
export function contain(socket: Socket, log: Logger, where: Boundary, listen: () => void): void {
  try {
    listen()
  } catch (err) {
    socket.destroy()
    log.error(
      { err, where, remoteAddress: socket.remoteAddress },
      'an exception ended a connection',
    )
  }
}
