import type { PlantRecord } from '@plant-store/plant-files'
import { InputStopped } from './input.ts'
import type { ImportMark } from './journal.ts'
import type { RowDigest } from './row-digest.ts'
import { toReject } from './row-result.ts'
import type { Row, RowWindow } from './row-window.ts'

/** How many rows are read beyond the mark on the disk: the most that a kill lets be sent again. */
const MAX_ROWS_AHEAD = 4_000

/** How many bytes of rows are kept until their mark is on the disk. */
const MAX_BYTES_AHEAD = 8_388_608

type Plant = NonNullable<PlantRecord['plant']>

export interface RowFeedParts {
  readonly records: AsyncIterable<PlantRecord>
  readonly window: RowWindow
  readonly digest: RowDigest
  /** The mark that the import goes on from. */
  readonly from: ImportMark
  /** How many rows are behind the mark that is on the disk now. */
  readonly notedRows: () => number
  /** Called for each row that needs no sending. */
  readonly onReject: () => void
  /** Makes the error for a file whose rows before the mark are others. */
  readonly describeOtherRows: () => Error
}

/** Reads the rows behind a mark: those that hold a plant, and for each plant which row it was. */
export class RowFeed {
  readonly #parts: RowFeedParts
  readonly #sent = new Map<number, Row>()
  #next = 0
  #rows = 0
  #isStopped = false
  #isRead = false
  #wake = () => {}

  constructor(parts: RowFeedParts) {
    this.#parts = parts
  }

  /** Whether the last row was read. */
  get isRead(): boolean {
    return this.#isRead
  }

  /** Whether the rows before the mark are passed. */
  get isBehindMark(): boolean {
    return this.#rows >= this.#parts.from.rows
  }

  /** Ends the reading behind the row at hand. */
  stop(): void {
    this.#isStopped = true
    this.#wake()
  }

  /** There may be room for more rows. */
  wake(): void {
    this.#wake()
  }

  /** The row of the plant with this index, which is asked for once. */
  takeRow(index: number): Row {
    const row = this.#sent.get(index)
    if (row === undefined) throw new Error(`no plant has the index ${index}`)
    this.#sent.delete(index)
    return row
  }

  /** @throws the error for other rows, before any plant is given. */
  async *plants(): AsyncGenerator<Plant> {
    const { records, window, from, onReject } = this.#parts
    try {
      for await (const record of records) {
        if (this.#rows < from.rows) this.#skip(record)
        else await this.#waitForRoom()
        if (this.#isStopped) return
        if (this.#rows++ < from.rows) continue
        const row = window.add(record)
        if (record.plant === undefined) {
          window.finish(row, toReject(record))
          onReject()
          continue
        }
        this.#sent.set(this.#next++, row)
        yield record.plant
      }
    } catch (error) {
      if (!(error instanceof InputStopped)) throw error
      return
    }
    if (this.#rows < from.rows) throw this.#parts.describeOtherRows()
    this.#isRead = true
  }

  #skip(record: PlantRecord): void {
    const { digest, from } = this.#parts
    digest.add(record.source)
    if (this.#rows + 1 === from.rows && digest.digest() !== from.digest) {
      throw this.#parts.describeOtherRows()
    }
  }

  get #hasRoom(): boolean {
    const { window, notedRows } = this.#parts
    return this.#rows - notedRows() < MAX_ROWS_AHEAD && window.bytes < MAX_BYTES_AHEAD
  }

  async #waitForRoom(): Promise<void> {
    while (!this.#isStopped && !this.#hasRoom) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
