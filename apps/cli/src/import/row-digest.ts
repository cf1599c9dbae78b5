import { createHash } from 'node:crypto'

const LINE_FEED = 0x0a
const BUFFER_BYTES = 65_536

/** The SHA-256 of rows as they stand in a file, each behind the other. */
export class RowDigest {
  readonly #hash = createHash('sha256')
  // One call for each row would cost more than the hash itself.
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  #used = 0

  add(source: Uint8Array): void {
    if (this.#used + source.length + 1 > BUFFER_BYTES) this.#flush()
    if (source.length + 1 > BUFFER_BYTES) {
      this.#hash.update(source).update('\n')
      return
    }
    this.#buffer.set(source, this.#used)
    this.#used += source.length
    this.#buffer[this.#used++] = LINE_FEED
  }

  #flush(): void {
    this.#hash.update(this.#buffer.subarray(0, this.#used))
    this.#used = 0
  }

  /** Of all rows so far, as hex; more may follow. */
  digest(): string {
    this.#flush()
    return this.#hash.copy().digest('hex')
  }
}
