/**
 * How many of one kind of thing the process has now: a number for each event loop, of which only its
 * own loop changes it. The numbers stand side by side, so that reading all of them reads one line of
 * the cache for each 16 loops, and what a dead loop had is forgotten by setting its number to 0.
 */
export class LoopCount {
  readonly #numbers: Int32Array
  readonly #loop: number

  /** @param loop from 0; the memory holds four bytes for each loop. */
  constructor(memory: SharedArrayBuffer, loop: number) {
    this.#numbers = new Int32Array(memory)
    this.#loop = loop
  }

  /** How many loops count. */
  get loops(): number {
    return this.#numbers.length
  }

  /** Of all loops. */
  get total(): number {
    const numbers = this.#numbers
    let total = 0
    for (let loop = 0; loop < numbers.length; loop++) total += Atomics.load(numbers, loop)
    return total
  }

  /** Of the other loops. */
  get others(): number {
    return this.total - Atomics.load(this.#numbers, this.#loop)
  }

  /** Adds one. */
  add(): void {
    Atomics.add(this.#numbers, this.#loop, 1)
  }

  /** Adds one unless all loops together have `most`. */
  take(most: number): boolean {
    // Added before the look: of two loops that take the last place at once, none or one gets it.
    this.add()
    if (this.total <= most) return true
    this.leave()
    return false
  }

  leave(count = 1): void {
    Atomics.sub(this.#numbers, this.#loop, count)
  }
}

export function createLoopCountMemory(loops: number): SharedArrayBuffer {
  return new SharedArrayBuffer(loops * Int32Array.BYTES_PER_ELEMENT)
}

/** Gives back what a loop had that is no more. */
export function forgetLoopCount(memory: SharedArrayBuffer, loop: number): void {
  Atomics.store(new Int32Array(memory), loop, 0)
}
