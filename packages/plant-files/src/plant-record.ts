import { type JsonValue, NewPlant } from '@plant-store/contract'
import type { Encoding, ReadOptions } from './dialect.ts'

/** One thing that is wrong with a record. */
export interface RecordProblem {
  /** The column's name in the file, or the member's in JSON; undefined where the record is meant. */
  readonly column?: string | undefined
  /** Counted from 1; undefined for JSON. */
  readonly columnNumber?: number | undefined
  /** As it stood in the file, shortened; a text is in quotes. */
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

/** What a record means. */
export type PlantOrProblems =
  | { readonly plant: NewPlant; readonly problem?: never; readonly problems?: never }
  | {
      readonly plant?: never
      /** All of them in one sentence, with the values. */
      readonly problem: string
      /** At least one. */
      readonly problems: readonly RecordProblem[]
    }

/** What one record of a plant file holds. */
export type PlantRecord = RecordSource & PlantOrProblems

/** A file of which no more records can be read; the message says why and what to do. */
export class PlantFileError extends Error {
  override name = 'PlantFileError'
}

/** What bounds a record, and the problems of one that is not kept. */
export interface Limit {
  readonly bytes: number
  readonly tooLong: string
  readonly unclosed: string
  readonly invalid: string
}

export function limitOf({ limitBytes, limitFlag }: ReadOptions, encoding: Encoding): Limit {
  const allows = limitFlag === undefined ? '' : `; ${limitFlag} allows more`
  return {
    bytes: limitBytes,
    tooLong: `is longer than ${limitBytes} bytes${allows}`,
    unclosed: `has a quote that is not closed within ${limitBytes} bytes${allows}`,
    invalid:
      encoding === 'utf-8'
        ? 'is not valid UTF-8. Try: --encoding windows-1252'
        : 'is not valid UTF-16',
  }
}

/** What is kept of a record that is longer than the limit. */
const CUT_BYTES = 1_000

/** A record of some lines, of which only the beginning is kept where it is too long. */
export function sourceOf(bytes: Buffer, line: number, lines: number, limit: Limit): RecordSource {
  const isCut = bytes.length > limit.bytes
  const source = isCut ? Buffer.from(bytes.subarray(0, CUT_BYTES)) : bytes
  return { line, lastLine: line + lines - 1, source, isCut }
}

const LONGEST_SHOWN = 40

export function shorten(text: string): string {
  if (text.length <= LONGEST_SHOWN) return text
  return `${text.slice(0, LONGEST_SHOWN - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** A text as the value of a problem. */
export function inQuotes(text: string): string {
  return JSON.stringify(shorten(text))
}

function describe({ column, value, message }: RecordProblem): string {
  const what = value === undefined ? message : `${value} ${message}`
  return column === undefined ? what : `${column}: ${what}`
}

export function withProblems(problems: readonly RecordProblem[]): PlantOrProblems {
  return { problem: problems.map(describe).join('; '), problems }
}

/** Where the value of a field stands in a record. */
export type Locate = (field: string) => Omit<RecordProblem, 'message'>

/** The plant that a value is, or the problems that it has. */
export function parsePlant(
  value: JsonValue | Readonly<Record<string, unknown>>,
  locate: Locate,
): PlantOrProblems {
  const result = NewPlant.safeParse(value)
  if (result.success) return { plant: result.data }
  return withProblems(
    result.error.issues.map(({ path: [field], message }) =>
      field === undefined ? { message } : { ...locate(String(field)), message },
    ),
  )
}
