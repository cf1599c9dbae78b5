import type { PlantRecord } from '@plant-store/plant-files'
import type { RowResult } from './row-result.ts'

/** A row that was read and waits until it, and every row before it, has its result. */
export interface Row {
  readonly record: PlantRecord
  result?: RowResult
}

export type FinishedRow = Row & { readonly result: RowResult }

/** The rows between the first one without a result and the last one that was read, in their order. */
export class RowWindow {
  #rows: Row[] = []
  /** How many rows at the beginning have a result. */
  #finished = 0
  #bytes = 0

  /** How long the rows are together. */
  get bytes(): number {
    return this.#bytes
  }

  /** Rows that were read and not taken. */
  get size(): number {
    return this.#rows.length
  }

  /** Rows that could be taken. */
  get finished(): number {
    return this.#finished
  }

  add(record: PlantRecord): Row {
    const row = { record }
    this.#rows.push(row)
    this.#bytes += record.source.length
    return row
  }

  finish(row: Row, result: RowResult): void {
    row.result = result
    while (this.#rows[this.#finished]?.result !== undefined) this.#finished++
  }

  /** Takes out every row before the first one without a result. */
  take(): FinishedRow[] {
    const taken = this.#rows.splice(0, this.#finished) as FinishedRow[]
    this.#finished = 0
    for (const { record } of taken) this.#bytes -= record.source.length
    return taken
  }
}
