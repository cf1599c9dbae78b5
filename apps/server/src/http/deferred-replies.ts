import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { contain } from './contain.ts'

/**
 * Refusals that are sent in one turn of the event loop; they take about a millisecond. A refusal
 * costs half as much as a create, and the caller may ask again at once: without a bound, such
 * callers would leave no time for the admitted ones.
 */
const REFUSALS_PER_TURN = 64

/** When turns are long, more refusals are sent in each, so that none waits much longer than this. */
const SENT_WITHIN_MS = 2_000

/** Lets the refusal of a request on a connection wait for its turn; `send` then sends it. */
export type DeferReply = (socket: Socket, send: () => void) => void

/** Sends refusals in the order of their arrival: a few at the end of each turn of the event loop. */
export function createDeferReply(log: Logger, now = () => performance.now()): DeferReply {
  const waiting: (() => void)[] = []
  let turnBeganAt = 0

  function waitForEndOfTurn(): void {
    turnBeganAt = now()
    setImmediate(replySome)
  }

  function replySome(): void {
    const due = Math.ceil((waiting.length * (now() - turnBeganAt)) / SENT_WITHIN_MS)
    for (const send of waiting.splice(0, Math.max(REFUSALS_PER_TURN, due))) send()
    if (waiting.length > 0) waitForEndOfTurn()
  }

  return (socket, send) => {
    if (waiting.length === 0) waitForEndOfTurn()
    waiting.push(() => contain(socket, log, 'refusal', send))
  }
}
