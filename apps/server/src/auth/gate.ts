import type { RequestError } from '../http/request-error.ts'

export interface GateLimits {
  /** How many may run at a time. */
  readonly running: number
  /** How many may wait for their turn. */
  readonly waiting: number
}

/** Runs work when its turn comes, in the order of arrival. */
export type Gate = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Bounds how much of a kind of work runs and waits at a time.
 * @throws the error of `refusal` if too many wait already; the work is not begun.
 */
export function createGate(limits: GateLimits, refusal: () => RequestError): Gate {
  let running = 0
  const waiting: (() => void)[] = []

  async function takeTurn(): Promise<void> {
    if (running < limits.running) {
      running++
      return
    }
    if (waiting.length >= limits.waiting) throw refusal()
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push(resolve)
    await promise
  }

  function endTurn(): void {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }

  return async (work) => {
    await takeTurn()
    try {
      return await work()
    } finally {
      endTurn()
    }
  }
}
