import { type JsonValue, NewPlant } from '@plant-store/contract'
import type { CsvFields } from './csv-record.ts'
import { formatCount } from './progress.ts'

/** One thing that is wrong with a record. */
export interface RecordProblem {
  /** The column's name in the file, or the member's in JSON; undefined where the record is meant. */
  readonly column?: string | undefined
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
  /** As UTF-8, without its line break. Only the beginning of a record that is too long. */
  readonly source: Buffer
  readonly isCut: boolean
}

/** What a record means: a plant, or its problems. */
export interface PlantOrProblems {
  readonly plant?: NewPlant
  readonly problems?: RecordProblem[]
}

/** What one record of a file of plants holds. */
export interface PlantRecord extends RecordSource, PlantOrProblems {
  /** The fields of a record of CSV; undefined where it is broken, and for JSON. */
  readonly fields?: CsvFields | undefined
  /** The id that its place gave it, where rows are numbered. */
  readonly id?: bigint | undefined
}

/** A file of which no more records can be read; the message says why and what to do. */
export class PlantFileError extends Error {
  override name = 'PlantFileError'
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

/** All that is wrong with a record in one sentence, with the values. */
export function describeProblems(problems: readonly RecordProblem[]): string {
  const parts = problems.map(({ column, value, message }) => {
    const what = value === undefined ? message : `${value} ${message}`
    return column === undefined ? what : `${column}: ${what}`
  })
  return parts.join('; ')
}

/** The same without the values: alike for all records that broke the same rules. */
export function reasonOf(problems: readonly RecordProblem[]): string {
  return describeProblems(problems.map(({ column, message }) => ({ column, message })))
}

/** Files that are something else may have a reason of its own on each line. */
const MOST_REASONS = 50

/** Counts why rows are not stored. */
export class ReasonCounts {
  readonly #counts = new Map<string, number>()

  add(reason: string): void {
    const isKept = this.#counts.has(reason) || this.#counts.size < MOST_REASONS
    const key = isKept ? reason : 'other reasons'
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  /** The reason, where all have one. */
  get only(): string | undefined {
    return this.#counts.size === 1 ? [...this.#counts.keys()][0] : undefined
  }

  /** A line for each reason, the most frequent first. */
  describe(): string {
    const sorted = [...this.#counts].sort(([, one], [, other]) => other - one)
    const width = formatCount(sorted[0]?.[1] ?? 0).length
    const lines = sorted.map(([reason, count]) => {
      return `  ${formatCount(count).padStart(width)}  ${reason.replaceAll('\n', '\\u000a')}\n`
    })
    return lines.join('')
  }
}

/** The plant that a value is, or the problems that it has; `locate`: where a field stands in it. */
export function parsePlant(
  value: JsonValue | Readonly<Record<string, unknown>>,
  locate: (field: string) => Omit<RecordProblem, 'message'>,
): PlantOrProblems {
  const result = NewPlant.safeParse(value)
  if (result.success) return { plant: result.data }
  const problems = result.error.issues.map(({ path: [field], message }) =>
    field === undefined ? { message } : { ...locate(String(field)), message },
  )
  return { problems }
}
