/** Keys whose hash begins alike share a bucket of so many slots. */
export const SLOTS = 8

/** The memory of a rate as numbers. */
export interface RateMemory {
  readonly buckets: number
  /** For each slot, the time at which all of the burst of its key is available again; past: free. */
  readonly fullAtNs: Float64Array
  /** For each slot, 64 bits of the hash of its key. */
  readonly keys: Int32Array
  /** For each bucket, 0 or one more than the loop that reads or changes it now. */
  readonly holders: Int32Array
}

const BYTES_PER_BUCKET = SLOTS * 16 + 4

/**
 * Memory for the rates of many keys, 128 bytes for two or fewer of them. A bucket rarely has too many:
 * of as many keys as this, one of a thousand finds its bucket full.
 */
export function createRateMemory(keys: number): SharedArrayBuffer {
  return new SharedArrayBuffer(2 ** Math.ceil(Math.log2(keys / 2)) * BYTES_PER_BUCKET)
}

export function readRateMemory(memory: SharedArrayBuffer): RateMemory {
  const buckets = memory.byteLength / BYTES_PER_BUCKET
  const slots = buckets * SLOTS
  return {
    buckets,
    fullAtNs: new Float64Array(memory, 0, slots),
    keys: new Int32Array(memory, slots * 8, slots * 2),
    holders: new Int32Array(memory, slots * 16, buckets),
  }
}
