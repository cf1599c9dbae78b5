import type { Hash } from './keyed-hash.ts'

/** Rows of the sketch. */
const ROWS = 4

/** The place of an address in each row; what `add` gave is what `remove` takes. */
export type AddressPlace = Int32Array

/**
 * How many of one kind of thing each address has now, in all event loops of the process: a count-min
 * sketch, in which every address has a counter in each of four rows and shares it with others. A
 * count may be too large, never too small. While there are half as many things as counters in a row,
 * or fewer, it is too large by t or more with a probability of at most (1/2t)^4: 6 % for one, 6 in a
 * million for ten, 6 in 10^14 for a thousand, which is what an honest caller is below the default limit.
 */
export class AddressCounts {
  readonly #counters: Int32Array
  readonly #loops: number
  readonly #loop: number
  readonly #hash: (address: string) => Hash
  readonly #width: number

  /** @param loop from 0, of so many `loops`. */
  constructor(
    memory: SharedArrayBuffer,
    { loops, loop, hash }: { loops: number; loop: number; hash: (address: string) => Hash },
  ) {
    this.#counters = new Int32Array(memory)
    this.#loops = loops
    this.#loop = loop
    this.#hash = hash
    this.#width = this.#counters.length / (ROWS * loops)
  }

  /** Adds one unless the address has `most`; undefined then. */
  add(address: string, most: number): AddressPlace | undefined {
    const place = this.#placeOf(address)
    // Added before the look: of two loops that take the last place at once, none or one gets it.
    for (const cell of place) Atomics.add(this.#counters, cell + this.#loop, 1)
    if (this.#countOf(place) <= most) return place
    this.remove(place)
    return undefined
  }

  remove(place: AddressPlace): void {
    for (const cell of place) Atomics.sub(this.#counters, cell + this.#loop, 1)
  }

  #placeOf(address: string): AddressPlace {
    const mask = this.#width - 1
    return this.#hash(address).map((bits, row) => (row * this.#width + (bits & mask)) * this.#loops)
  }

  #countOf(place: AddressPlace): number {
    let count = 0
    for (let loop = 0; loop < this.#loops; loop++) {
      let least = Number.POSITIVE_INFINITY
      for (const cell of place) least = Math.min(least, Atomics.load(this.#counters, cell + loop))
      count += least
    }
    return count
  }
}

/** @param most things of all addresses together; the memory takes up to 64 bytes for each and loop. */
export function createAddressCountsMemory(loops: number, most: number): SharedArrayBuffer {
  const width = 2 ** Math.ceil(Math.log2(2 * most))
  return new SharedArrayBuffer(width * ROWS * loops * Int32Array.BYTES_PER_ELEMENT)
}

/** Gives back what a loop had that is no more. */
export function forgetAddressCounts(memory: SharedArrayBuffer, loops: number, loop: number): void {
  const counters = new Int32Array(memory)
  for (let cell = loop; cell < counters.length; cell += loops) {
    // Memory that was never written to takes no room.
    if (counters[cell] !== 0) Atomics.store(counters, cell, 0)
  }
}
