import type { RequestError } from '../http/request-error.ts'

/**
 * Bounds how much of a kind of work runs and how much waits at a time. Runs work when its turn comes,
 * in the order of arrival.
 * @throws the error of `refusal` if too many wait already; the work is not begun.
 */
export function createGate(
  limits: { readonly running: number; readonly waiting: number },
  refusal: () => RequestError,
) {
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

  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await takeTurn()
    try {
      return await work()
    } finally {
      endTurn()
    }
  }
}
