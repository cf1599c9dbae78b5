import type { Hash } from './keyed-hash.ts'

/** Keys whose hash begins alike share a bucket of so many slots. */
const SLOTS = 8

/** For each slot a time and 64 bits of a hash, and a number for the bucket. */
const BYTES_PER_BUCKET = SLOTS * 16 + 4

/** A bucket is held for a tenth of a microsecond, unless the system runs another thread meanwhile. */
const TRIES = 100
const LET_OTHERS_RUN_MS = 1

/**
 * One time for each of many keys, in memory that several threads share: when all of its burst is
 * available again. A slot whose time has passed is free. Where a bucket is full, a key takes the
 * slot of the one whose time comes first.
 */
export class RateBuckets {
  readonly #buckets: number
  readonly #times: Float64Array
  readonly #keys: Int32Array
  /** 0, or one more than the loop that reads and changes the bucket now. */
  readonly #holders: Int32Array
  readonly #loop: number

  constructor(memory: SharedArrayBuffer, loop: number) {
    this.#buckets = memory.byteLength / BYTES_PER_BUCKET
    const slots = this.#buckets * SLOTS
    this.#times = new Float64Array(memory, 0, slots)
    this.#keys = new Int32Array(memory, slots * 8, slots * 2)
    this.#holders = new Int32Array(memory, slots * 16, this.#buckets)
    this.#loop = loop
  }

  /** Replaces the time of a key, which is 0 where none is kept, by what `change` returns. */
  update(key: Hash, change: (time: number) => number): void {
    const bucket = (key[0] as number) & (this.#buckets - 1)
    this.#hold(bucket)
    const slot = this.#slotOf(bucket, key)
    const before = this.#isOf(slot, key) ? (this.#times[slot] as number) : 0
    const after = change(before)
    if (after !== before) {
      this.#keys[2 * slot] = key[1] as number
      this.#keys[2 * slot + 1] = key[2] as number
      this.#times[slot] = after
    }
    Atomics.store(this.#holders, bucket, 0)
  }

  /** Lets go what a loop held that is no more. */
  releaseAll(): void {
    for (let bucket = 0; bucket < this.#buckets; bucket++) {
      Atomics.compareExchange(this.#holders, bucket, this.#loop + 1, 0)
    }
  }

  #hold(bucket: number): void {
    for (let tries = 1; ; tries++) {
      const holder = Atomics.compareExchange(this.#holders, bucket, 0, this.#loop + 1)
      if (holder === 0) return
      if (tries % TRIES === 0) Atomics.wait(this.#holders, bucket, holder, LET_OTHERS_RUN_MS)
    }
  }

  /** The slot of a key, or else the one whose time comes first. */
  #slotOf(bucket: number, key: Hash): number {
    let first = bucket * SLOTS
    for (let slot = first; slot < (bucket + 1) * SLOTS; slot++) {
      if (this.#isOf(slot, key)) return slot
      if ((this.#times[slot] as number) < (this.#times[first] as number)) first = slot
    }
    return first
  }

  #isOf(slot: number, key: Hash): boolean {
    return this.#keys[2 * slot] === key[1] && this.#keys[2 * slot + 1] === key[2]
  }
}

/**
 * Memory for so many keys, 66 to 132 bytes for each. Of as many, one in a thousand at most finds its
 * bucket full.
 */
export function createRateMemory(keys: number): SharedArrayBuffer {
  return new SharedArrayBuffer(2 ** Math.ceil(Math.log2(keys / 2)) * BYTES_PER_BUCKET)
}
