import type { NewPlant } from '@plant-store/contract'

/** One thing that is wrong with a record. */
export interface RecordProblem {
  /** The column's name in the file, or the member's in JSON; undefined where the record is meant. */
  readonly column?: string | undefined
  /** Counted from 1; undefined for JSON. */
  readonly columnNumber?: number | undefined
  /** As it stood in the file, shortened. */
  readonly value?: string | undefined
  /** The rule: the same for every record that breaks it. */
  readonly message: string
}

/** A record as it stood in the file. */
export interface RecordSource {
  /** The line that it begins on, counted from 1. */
  readonly line: number
  /** The line that it ends on. */
  readonly lastLine: number
  /**
   * As UTF-8, without the line break at its end; bytes that were invalid are still so.
   * Only the beginning of a record that is longer than the limit.
   */
  readonly source: Uint8Array
  readonly isCut: boolean
}

/** What one record of a plant file holds. */
export type PlantRecord = RecordSource &
  (
    | { readonly plant: NewPlant; readonly problem?: never; readonly problems?: never }
    | {
        readonly plant?: never
        /** All of them in one sentence, with the values. */
        readonly problem: string
        /** At least one. */
        readonly problems: readonly RecordProblem[]
      }
  )
