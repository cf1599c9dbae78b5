import type { Dialect } from './dialect.ts'
import type { RecordSource } from './plant-record.ts'

/** Why a record was not stored. */
export interface Rejection {
  /** A name without blanks, such as `id_taken`. */
  readonly code: string
  readonly message: string
}

/** Writes records that were rejected, in the format of the file that they come from. */
export interface RejectsWriter {
  /** `csv` or `jsonl`: how the file of rejects should end. */
  readonly extension: string
  /** What the file begins with; may be empty. */
  header(): Uint8Array
  /** A whole record with its line feed. */
  write(record: RecordSource, rejection: Rejection): Uint8Array
}

export function createRejectsWriter(dialect: Dialect): RejectsWriter {
  return {
    extension: dialect.format,
    header: () => new Uint8Array(),
    write: ({ line, source }, { code, message }) =>
      Buffer.concat([
        Buffer.from(`${line},${code},${JSON.stringify(message)},`),
        source,
        Buffer.from('\n'),
      ]),
  }
}
