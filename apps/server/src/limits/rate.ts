import type { RateLimit } from '../store/store.ts'

const NS_PER_MS = 1_000_000

export interface RateOptions extends RateLimit {
  /** Keys that are kept; with one more, the least recently used key is forgotten and starts anew. */
  readonly keyLimit: number
}

/** What is left of a key's rate. */
export interface RateState {
  /** Whole units that may be spent now. */
  readonly remaining: number
  /** Until a unit may be spent; 0 if one may be spent now. */
  readonly waitMs: number
}

/** What is left of a rate whose whole burst is available again in `fullInNs`. */
export function stateOf({ unitNs, burst }: RateLimit, fullInNs: number): RateState {
  const leftNs = burst * unitNs - fullInNs
  const remaining = Math.max(0, Math.floor(leftNs / unitNs))
  return { remaining, waitMs: remaining > 0 ? 0 : (unitNs - leftNs) / NS_PER_MS }
}

/** A rate for each of many keys, in bounded memory and without timers. */
export interface Rate {
  /** What is left; nothing is spent. */
  look(key: string, nowMs: number): RateState
  /** Spends a unit if there is one, and returns what was left before. */
  spend(key: string, nowMs: number): RateState
}

/**
 * The generic cell rate algorithm (ITU-T I.371), which is a token bucket that keeps one number for
 * each key: the time at which all of its burst is available again.
 */
export function createRate(options: RateOptions): Rate {
  const fullAtNs = new Map<string, number>()

  function fullInNs(key: string, nowMs: number): number {
    return Math.max(0, (fullAtNs.get(key) ?? 0) - Math.round(nowMs * NS_PER_MS))
  }

  return {
    look: (key, nowMs) => stateOf(options, fullInNs(key, nowMs)),
    spend(key, nowMs) {
      const missingNs = fullInNs(key, nowMs)
      const state = stateOf(options, missingNs)
      if (state.waitMs > 0) return state
      // Deleted first, so that the map stays in the order of last use.
      fullAtNs.delete(key)
      fullAtNs.set(key, Math.round(nowMs * NS_PER_MS) + missingNs + options.unitNs)
      if (fullAtNs.size > options.keyLimit) fullAtNs.delete(fullAtNs.keys().next().value as string)
      return state
    },
  }
}
