import type { RejectsWriter } from '@plant-store/plant-files'
import { CliError, codeOf } from '../cli-error.ts'
import { exitCodes } from '../exit-codes.ts'
import type { ImportMark, Journal } from './journal.ts'
import { addRows } from './mark.ts'
import type { RejectsFile } from './rejects-file.ts'
import type { RowDigest } from './row-digest.ts'
import type { RowReject } from './row-result.ts'
import type { FinishedRow, RowWindow } from './row-window.ts'

/** Rows between two notes at most, while their rows have results. */
const ROWS_PER_NOTE = 1_000
const MS_PER_NOTE = 500

function cannotWrite(path: string): (cause: unknown) => never {
  return (cause) => {
    throw new CliError(`${path} cannot be written: ${codeOf(cause) ?? cause}`, exitCodes.failure, {
      hint: 'make room, then run the same command; it goes on, and nothing is lost',
      cause,
    })
  }
}

/** What the notes of an import are made from and written to. */
export interface NoteParts {
  readonly window: RowWindow
  readonly digest: RowDigest
  readonly rejects: RejectsFile
  readonly writer: RejectsWriter
  /** Undefined for a stream, which cannot be read again. */
  readonly journal: Journal | undefined
  readonly mark: ImportMark
  /** Called for each reject, in the order of the rows, once it is on the disk. */
  readonly onReject: (row: FinishedRow & { readonly result: RowReject }) => void
  /** Called after each note, and when one has failed. */
  readonly onNote: () => void
}

/**
 * Writes down what became of the rows, in their order: first the rejects, and once they are on the
 * disk the mark behind them. So a kill between any two calls leaves a journal that is true.
 */
export class ImportNotes {
  readonly #parts: NoteParts
  readonly #beganAt = performance.now()
  readonly #timer: NodeJS.Timeout
  #mark: ImportMark
  #writing: Promise<void> | undefined
  #failure: { readonly reason: unknown } | undefined

  constructor(parts: NoteParts) {
    this.#parts = parts
    this.#mark = parts.mark
    this.#timer = setInterval(() => this.#start(), MS_PER_NOTE).unref()
  }

  /** How far the import came, as it is on the disk. */
  get mark(): ImportMark {
    return this.#mark
  }

  /** Why nothing more can be noted. */
  get failure(): { readonly reason: unknown } | undefined {
    return this.#failure
  }

  /** A row has its result: writes once there are enough of them. */
  onResult(): void {
    if (this.#parts.window.finished >= ROWS_PER_NOTE) this.#start()
  }

  #start(): void {
    if (this.#writing !== undefined || this.#failure !== undefined) return
    this.#writing = this.#write()
      .catch((reason: unknown) => {
        this.#failure = { reason }
      })
      .finally(() => {
        this.#writing = undefined
        this.#parts.onNote()
      })
  }

  async #write(): Promise<void> {
    const { window, digest, rejects, writer, journal, onReject } = this.#parts
    const rows = window.take()
    if (rows.length === 0) return
    for (const { record } of rows) digest.add(record.source)
    const rejected = rows.filter(
      (row): row is FinishedRow & { readonly result: RowReject } => row.result.type === 'rejected',
    )
    if (rejected.length > 0) {
      const chunks = rejected.map(({ record, result }) => writer.write(record, result))
      const all = rejects.bytes === 0 ? [writer.header(), ...chunks] : chunks
      await rejects.append(all).catch(cannotWrite(rejects.path))
    }
    const seconds = this.#parts.mark.seconds + (performance.now() - this.#beganAt) / 1_000
    const written = { digest: digest.digest(), rejectsBytes: rejects.bytes, seconds }
    const mark = { ...addRows(this.#mark, rows), ...written }
    await journal?.advance(mark).catch(cannotWrite(journal.path))
    this.#mark = mark
    rejected.forEach(onReject)
  }

  /** Writes down everything that is known. @throws what kept it from being written. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    this.#start()
    await this.#writing
    if (this.#failure !== undefined) throw this.#failure.reason
  }
}
