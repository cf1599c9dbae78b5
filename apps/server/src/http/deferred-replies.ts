import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { contain } from './contain.ts'

/**
 * Refusals that are told in one turn of the event loop, about a millisecond of it. To tell costs
 * half as much as to serve, and whoever is told may ask again at once: without a bound, callers
 * that do would leave no time for those that were let in.
 */
const REFUSALS_PER_TURN = 64

/** Where turns are long, so many more are told in each that none waits for much longer than this. */
const TOLD_WITHIN_MS = 2_000

/** Has a refusal told on a connection when its turn comes. */
export type DeferReply = (socket: Socket, tell: () => void) => void

/** Tells refusals in the order in which they came, after the turn of the event loop and a few in each. */
export function createDeferReply(log: Logger, now = () => performance.now()): DeferReply {
  const untold: (() => void)[] = []
  let turnBeganAt = 0

  function waitForEndOfTurn(): void {
    turnBeganAt = now()
    setImmediate(replySome)
  }

  function replySome(): void {
    const due = Math.ceil((untold.length * (now() - turnBeganAt)) / TOLD_WITHIN_MS)
    for (const tell of untold.splice(0, Math.max(REFUSALS_PER_TURN, due))) tell()
    if (untold.length > 0) waitForEndOfTurn()
  }

  return (socket, tell) => {
    if (untold.length === 0) waitForEndOfTurn()
    untold.push(() => contain(socket, log, 'refusal', tell))
  }
}
