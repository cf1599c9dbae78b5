import { setImmediate } from 'node:timers/promises'
import type { Runtime } from '../src/runtime.ts'

interface Timer {
  readonly at: number
  readonly callback: () => void
}

export interface FakeRuntime extends Runtime {
  /** Timers that were started and neither ended nor stopped. */
  readonly running: number
  /** Lets time pass, timer by timer, until the work is done. */
  runUntilDone<T>(work: Promise<T>): Promise<T>
}

/** The wall clock of a fake runtime shows this at its start. */
export const START_OF_TIME = Date.UTC(2030, 0, 1)

/** A clock that stands still until runUntilDone moves it. */
export function createFakeRuntime(random: () => number = () => 0.5): FakeRuntime {
  const timers = new Set<Timer>()
  let now = 1_000
  let ids = 0

  function runNextTimer(): void {
    const [first] = [...timers].sort((left, right) => left.at - right.at)
    if (first === undefined) throw new Error('the work waits for something that is no timer')
    timers.delete(first)
    now = Math.max(now, first.at)
    first.callback()
  }

  return {
    now: () => now,
    wallClock: () => START_OF_TIME + now - 1_000,
    startTimer(callback, ms) {
      const timer = { at: now + ms, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    random,
    newRequestId: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`,
    get running() {
      return timers.size
    },
    async runUntilDone(work) {
      let isDone = false
      const done = () => {
        isDone = true
      }
      work.then(done, done)
      for (;;) {
        await setImmediate()
        if (isDone) return work
        runNextTimer()
      }
    },
  }
}

/** Numbers from 0 up to 1 that are the same in every run (mulberry32). */
export function createSeededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
