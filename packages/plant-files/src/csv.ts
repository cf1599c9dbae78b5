import type { NewPlant } from '@plant-store/contract'
import { delimiterNamed } from './csv-dialect.ts'
import { type CsvFields, readWholeRecord } from './csv-record.ts'
import { type CsvRecord, CsvSplitter } from './csv-splitter.ts'
import type { Column, Delimiter } from './dialect.ts'
import { type PlantField, plantFieldNames, plantFields } from './plant-fields.ts'
import {
  inQuotes,
  type Limit,
  type PlantOrProblems,
  type PlantRecord,
  parsePlant,
  type RecordProblem,
  withProblems,
} from './plant-record.ts'
import { fromRejectedRecord, rejectColumns, withoutColumns } from './rejects-columns.ts'

const NEEDS_QUOTES = /[",\r\n]|^$/

function writeField(value: NewPlant[PlantField]): string {
  if (value === undefined) return ''
  const text = String(value)
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The first line of a file, with its line feed. */
export const csvHeader = `${plantFieldNames.join(',')}\n`

/**
 * A record for each plant, in the order of csvHeader, quoted as in RFC 4180 and ended by LF.
 * An absent field is empty, an empty text is quoted: `""`.
 */
export function writeCsv(plants: readonly NewPlant[]): string {
  return plants
    .map((plant) => `${plantFieldNames.map((field) => writeField(plant[field])).join(',')}\n`)
    .join('')
}

const EXPONENT = /^[+-]?\d+(?:[.,]\d*)?e[+-]?\d+$/i

const SHORTENED = 'is a number as spreadsheets shorten it; its last digits are lost'

/** Reads records by their columns. */
class PlantRows {
  readonly #columns: readonly Column[]
  readonly #hasHeader: boolean

  constructor(columns: readonly Column[], hasHeader: boolean) {
    this.#columns = columns
    this.#hasHeader = hasHeader
  }

  read(fields: CsvFields): PlantOrProblems {
    if (fields.length !== this.#columns.length) {
      const first = this.#hasHeader ? 'line' : 'record'
      const count = fields.length === 1 ? '1 field' : `${fields.length} fields`
      const message = `has ${count} where the first ${first} has ${this.#columns.length}`
      return withProblems([{ message }])
    }
    const values: Partial<Record<PlantField, unknown>> = {}
    for (let index = 0; index < fields.length; index++) {
      const field = this.#columns[index]?.field
      const text = fields[index]
      if (field === undefined || text === undefined) continue
      const { isText, fromText } = plantFields[field]
      if (!isText && EXPONENT.test(text)) {
        return withProblems([{ ...this.#locate(field, fields), message: SHORTENED }])
      }
      values[field] = fromText(text)
    }
    return parsePlant(values, (field) => this.#locate(field, fields))
  }

  #locate(field: string, fields: CsvFields): Omit<RecordProblem, 'message'> {
    const index = this.#columns.findIndex((column) => column.field === field)
    const name = this.#columns[index]?.name
    if (name === undefined) return { column: field }
    const value = fields[index]
    // A column without a name is called by its number and its field.
    const place = this.#hasHeader
      ? { column: name.trim(), columnNumber: index + 1 }
      : { column: `${name} (${field})` }
    return {
      ...place,
      value: value === undefined ? undefined : inQuotes(value),
    }
  }
}

/** A quote in the wrong place may take in the lines behind it, which nobody would look for. */
function withSpan(found: PlantOrProblems, { line, lastLine }: CsvRecord): PlantOrProblems {
  if (found.problem === undefined || lastLine === line) return found
  const problem = `${found.problem}; quotes make one record of lines ${line} to ${lastLine}, and nothing of it is stored`
  return { ...found, problem }
}

/** A record of rejects as it was in the file that they come from, with their columns before it. */
function fromRejects(record: CsvRecord, delimiter: Delimiter): CsvRecord {
  const { line, lastLine, isCut } = record
  const own = withoutColumns(record.source, delimiter, rejectColumns.length)
  const source = isCut ? undefined : fromRejectedRecord(own, delimiter)
  if (source === undefined) return { ...record, source: own }
  const read = record.problem ?? readWholeRecord(source, delimiter)
  const from = { line, lastLine, isCut, source }
  if (typeof read === 'string') return { ...from, problem: read }
  return { ...from, fields: [...rejectColumns, ...read] }
}

export interface CsvReading {
  readonly delimiter: Delimiter
  readonly hasHeader: boolean
  readonly isRejects: boolean
  readonly columns: readonly Column[]
}

/** So much is split into records at once: more of them would outlive the nursery of the heap. */
const PIECE_BYTES = 8_192

/**
 * Reads plants from UTF-8. An empty field is absent, a quoted one (`""`) is the empty text; records
 * whose fields are all empty are passed over, as spreadsheets write them.
 */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  { delimiter, hasHeader, isRejects, columns }: CsvReading,
  limit: Limit,
): AsyncGenerator<PlantRecord> {
  const splitter = new CsvSplitter(delimiter, limit)
  const rows = new PlantRows(columns, hasHeader)
  let isBegun = false
  let isInHeader = hasHeader

  function* read(records: readonly CsvRecord[]): Generator<PlantRecord> {
    for (const record of records) {
      const isSeparator = !isBegun && delimiterNamed(record.source) !== undefined
      isBegun = true
      if (isSeparator) continue
      if (isInHeader) {
        isInHeader = false
        continue
      }
      if (record.fields?.every((field) => field === undefined)) continue
      const row = isRejects ? fromRejects(record, delimiter) : record
      const { line, lastLine, source, isCut, fields, problem } = row
      const found = fields ? rows.read(fields) : withProblems([{ message: problem ?? '' }])
      yield { line, lastLine, source, isCut, ...withSpan(found, record) }
    }
  }

  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      yield* read(splitter.push(chunk.subarray(at, at + PIECE_BYTES)))
    }
  }
  yield* read(splitter.end())
}
