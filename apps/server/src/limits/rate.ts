import type { RateLimit } from '../store/store.ts'
import type { Hash } from './shared/keyed-hash.ts'
import { readRateMemory, SLOTS } from './shared/rate-memory.ts'

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

/** A rate for each of many keys, in bounded memory and without timers. Times are by performance.now(). */
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
  /** What to add to performance.now() of this thread to have a time that all threads share; whole ns. */
  readonly clockOffsetNs: number
}

/** A bucket is held for a hundred-thousandth of this, unless its holder has died meanwhile. */
const HELD_LIMIT_MS = 100

/**
 * The generic cell rate algorithm (ITU-T I.371), which is a token bucket that keeps one number for
 * each key: the time at which all of its burst is available again. Where a bucket is full of others,
 * a key takes the place of the one that is available again first, which starts anew.
 */
export function createRate(limit: RateLimit, share: RateShare): Rate {
  const { loop, hash, clockOffsetNs } = share
  const { buckets, fullAtNs, keys, holders } = readRateMemory(share.memory)

  /** Lets one thread at a time read and change a bucket. */
  function hold(bucket: number): void {
    let expected = 0
    for (;;) {
      const holder = Atomics.compareExchange(holders, bucket, expected, loop + 1)
      if (holder === expected) return
      const isLate = Atomics.wait(holders, bucket, holder, HELD_LIMIT_MS) === 'timed-out'
      expected = isLate ? holder : 0
    }
  }

  function release(bucket: number): void {
    Atomics.store(holders, bucket, 0)
    Atomics.notify(holders, bucket, 1)
  }

  const isOf = (slot: number, key: Hash) =>
    keys[2 * slot] === key[1] && keys[2 * slot + 1] === key[2]

  /** The slot of a key, or else the one whose key is available again first. */
  function slotOf(bucket: number, key: Hash): number {
    let first = bucket * SLOTS
    for (let slot = first; slot < (bucket + 1) * SLOTS; slot++) {
      if (isOf(slot, key)) return slot
      if ((fullAtNs[slot] as number) < (fullAtNs[first] as number)) first = slot
    }
    return first
  }

  function use(text: string, nowMs: number, spends: boolean): RateState {
    const key = hash(text)
    const nowNs = Math.round(nowMs * NS_PER_MS) + clockOffsetNs
    const bucket = (key[0] as number) & (buckets - 1)
    hold(bucket)
    const slot = slotOf(bucket, key)
    const missingNs = isOf(slot, key) ? Math.max(0, (fullAtNs[slot] as number) - nowNs) : 0
    const state = stateOf(limit, missingNs)
    if (spends && state.waitMs === 0) {
      keys.set(key.subarray(1, 3), 2 * slot)
      fullAtNs[slot] = nowNs + missingNs + limit.unitNs
    }
    release(bucket)
    return state
  }

  return {
    look: (key, nowMs) => use(key, nowMs, false),
    spend: (key, nowMs) => use(key, nowMs, true),
  }
}
