import type { DatabaseSync } from 'node:sqlite'
import { LOG_LIMIT_BYTES } from '../database/durable.ts'

/** A page of 4096 bytes and its header (https://sqlite.org/fileformat2.html#walformat). */
const FRAME_BYTES = 4_120

/** To cut this much off takes some 20 ms. */
const STEP_BYTES = 67_108_864

/**
 * Cuts back the file of a log that a long reader let grow. SQLite does it in the first commit of the
 * new log, which 1 GB would hold up for a quarter of a second: so step by step.
 */
export class LogFile {
  readonly #database: DatabaseSync
  #bytes = 0

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** To be called when a log of this length will begin anew. */
  cut(frames: number): void {
    this.#bytes = Math.max(this.#bytes, frames * FRAME_BYTES)
    if (this.#bytes <= LOG_LIMIT_BYTES) return
    this.#bytes = Math.max(LOG_LIMIT_BYTES, this.#bytes - STEP_BYTES)
    this.#database.exec(`PRAGMA journal_size_limit = ${this.#bytes}`)
  }
}
