import type { LoopPlace } from '../../../src/http/limits/process-counts.ts'

/** What a thread does over and over. */
export interface Hammering extends LoopPlace {
  readonly what: 'requests' | 'addresses' | 'rates'
  /** How often; Infinity until the thread is terminated. */
  readonly times: number
  readonly most: number
  /** How many threads are between taking and leaving now, by number; and the most that ever were. */
  readonly witness: SharedArrayBuffer
}

/** So many addresses, each with a witness of its own. */
export const ADDRESSES = 4

/** Grows back within no test. */
export const UNIT_NS = 3_600 * 1e9
