import type { RateLimit } from '../../store/store.ts'
import type { Hash } from './shared/keyed-hash.ts'
import { RateBuckets } from './shared/rate-buckets.ts'

const NS_PER_MS = 1_000_000

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

/**
 * A rate for each of many keys, in bounded memory and without timers. Times are by performance.now(),
 * which counts from the start of the process in all its threads.
 */
export interface Rate {
  /** What is left; nothing is spent. */
  look(key: string, nowMs: number): RateState
  /** Spends a unit if there is one, and returns what was left before. */
  spend(key: string, nowMs: number): RateState
}

/** What the rates of all event loops of a process share, seen from one of them. */
export interface RateShare {
  /** From createRateMemory. */
  readonly memory: SharedArrayBuffer
  readonly loop: number
  readonly hash: (key: string) => Hash
}

/**
 * The generic cell rate algorithm (ITU-T I.371), which is a token bucket that keeps one number for
 * each key: the time at which all of its burst is available again.
 */
export function createRate(limit: RateLimit, { memory, loop, hash }: RateShare): Rate {
  const buckets = new RateBuckets(memory, loop)
  let nowNs = 0
  let spends = false
  let state: RateState

  // One function for all calls, because a new one for each would be garbage.
  function change(fullAtNs: number): number {
    const missingNs = Math.max(0, fullAtNs - nowNs)
    state = stateOf(limit, missingNs)
    return spends && state.waitMs === 0 ? nowNs + missingNs + limit.unitNs : fullAtNs
  }

  function use(key: string, nowMs: number, isSpent: boolean): RateState {
    nowNs = Math.round(nowMs * NS_PER_MS)
    spends = isSpent
    buckets.update(hash(key), change)
    return state
  }

  return {
    look: (key, nowMs) => use(key, nowMs, false),
    spend: (key, nowMs) => use(key, nowMs, true),
  }
}
