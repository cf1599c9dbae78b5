import type { CreatePlantResult } from '@plant-store/client'
import { wasThere } from '../was-there.ts'
import { describeProblems, type PlantRecord, reasonOf } from './plant-record.ts'
import type { Rejection } from './rejects.ts'

/** What became of a row, for certain. */
export type RowResult =
  | { readonly type: 'stored' | 'alreadyThere' }
  | (Rejection & {
      readonly type: 'rejected'
      /** The same words for each row that is rejected for this reason. */
      readonly reason: string
    })

/** Errors that are about the plant itself, which no later try can change. */
const ABOUT_THE_PLANT: readonly string[] = ['conflict', 'invalid_plant', 'rejected', 'too_large']

/** What a response means for its row; undefined where it says nothing for certain of this row. */
export function toRowResult(result: CreatePlantResult): RowResult | undefined {
  if (result.ok) return { type: wasThere(result.meta) ? 'alreadyThere' : 'stored' }
  const { error } = result
  if (error.applied !== 'no' || !ABOUT_THE_PLANT.includes(error.code)) return undefined
  const { apiName, apiMessage } = error as {
    readonly apiName?: string
    readonly apiMessage?: string
  }
  const code = apiName ?? error.code
  const reason = code.replaceAll('_', ' ')
  return { type: 'rejected', code, message: apiMessage ?? error.message, reason }
}

/** What becomes of a row that holds no plant. */
export function toReject({ problems = [] }: PlantRecord): RowResult {
  const [message, reason] = [describeProblems(problems), reasonOf(problems)]
  return { type: 'rejected', code: 'invalid_plant', message, reason }
}

/** A row that was read, and its result once there is one. */
export interface Row {
  readonly record: PlantRecord
  result?: RowResult
}

/** The most rows that are read beyond the first one without a result. */
const MOST_ROWS = 4_096

/** The rows from the first one without a result on; passes each result on in the order of rows. */
export class RowQueue {
  readonly #rows: Row[] = []
  readonly #onResult: (record: PlantRecord, result: RowResult) => void
  #done = 0
  #wake = () => {}

  constructor(onResult: (record: PlantRecord, result: RowResult) => void) {
    this.#onResult = onResult
  }

  /** How many rows have a result, and each before them. */
  get done(): number {
    return this.#done
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0
  }

  add(record: PlantRecord): Row {
    const row = { record }
    this.#rows.push(row)
    return row
  }

  settle(row: Row, result: RowResult): void {
    row.result = result
    for (let [first] = this.#rows; first?.result !== undefined; [first] = this.#rows) {
      this.#rows.shift()
      this.#done++
      this.#onResult(first.record, first.result)
    }
    this.#wake()
  }

  /** Waits while there are too many rows; `release` ends it. */
  async waitForRoom(): Promise<void> {
    if (this.#rows.length < MOST_ROWS) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  release(): void {
    this.#wake()
  }
}
