/** A rate that is spent one by one: `burst` at once, then `perSecond`. */
export interface RateOptions {
  readonly perSecond: number
  readonly burst: number
  /** Keys that are kept; beyond it the key that was longest unused starts afresh. */
  readonly keyLimit: number
}

/** What is left of a key's rate. */
export interface RateState {
  /** Whole units that may be spent now. */
  readonly remaining: number
  /** Until a unit may be spent; 0 where one may be now. */
  readonly waitMs: number
}

/** A rate for each of many keys, in bounded memory and without timers. */
export interface Rate {
  /** What is left; nothing is spent. */
  look(key: string, nowMs: number): RateState
  /** Spends a unit where there is one, and gives what was left before. */
  spend(key: string, nowMs: number): RateState
}

/**
 * The generic cell rate algorithm (ITU-T I.371), which is a token bucket that keeps one number for
 * each key: the time at which all of its burst is there again.
 */
export function createRate({ perSecond, burst, keyLimit }: RateOptions): Rate {
  const unitMs = 1_000 / perSecond
  const fullAt = new Map<string, number>()

  function look(key: string, nowMs: number): RateState {
    const missing = Math.max(0, (fullAt.get(key) ?? 0) - nowMs) / unitMs
    const left = burst - missing
    return { remaining: Math.max(0, Math.floor(left)), waitMs: Math.max(0, (1 - left) * unitMs) }
  }

  return {
    look,
    spend(key, nowMs) {
      const state = look(key, nowMs)
      if (state.waitMs > 0) return state
      const next = Math.max(fullAt.get(key) ?? 0, nowMs) + unitMs
      // Set anew, so that the map stays in the order of last use.
      fullAt.delete(key)
      fullAt.set(key, next)
      if (fullAt.size > keyLimit) fullAt.delete(fullAt.keys().next().value as string)
      return state
    },
  }
}
