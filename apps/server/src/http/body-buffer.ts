/** What is set aside for a body on the word of its Content-Length alone. */
const MOST_UNSEEN_BYTES = 65_536

/** A body in one buffer, however small the chunks are that it comes in. */
export class BodyBuffer {
  /** The first buffer that is not the caller's own chunk. */
  readonly #leastBytes: number
  #buffer: Buffer = Buffer.alloc(0)
  #length = 0

  /** `expectedBytes` is what Content-Length says, or 0. */
  constructor(expectedBytes: number) {
    this.#leastBytes = Math.min(expectedBytes, MOST_UNSEEN_BYTES)
  }

  get length(): number {
    return this.#length
  }

  add(chunk: Buffer): void {
    // Most bodies come whole, and need no copy.
    if (this.#length === 0) this.#buffer = chunk
    else this.#append(chunk)
    this.#length += chunk.length
  }

  #append(chunk: Buffer): void {
    const needed = this.#length + chunk.length
    if (needed > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.#leastBytes, 2 * needed))
      this.#buffer.copy(grown, 0, 0, this.#length)
      this.#buffer = grown
    }
    chunk.copy(this.#buffer, this.#length)
  }

  toBuffer(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }
}
