import { type PlantField, plantFieldNames, plantFields } from '../plant-fields.ts'
import { type Column, type FieldMap, mapColumns, numberColumns } from './columns.ts'
import type { CsvFields } from './csv-record.ts'
import { type CsvRecord, CsvSplitter } from './csv-splitter.ts'
import {
  inQuotes,
  PlantFileError,
  type PlantOrProblems,
  type PlantRecord,
  parsePlant,
  type RecordProblem,
} from './plant-record.ts'

/** How a file of CSV is written. */
export interface CsvDialect {
  readonly delimiter: string
  readonly hasHeader: boolean
  readonly columns: readonly Column[]
}

/** What a person says of a file of CSV. */
export interface CsvOptions {
  readonly delimiter?: string | undefined
  /** Whether the first line names the columns. */
  readonly hasHeader: boolean
  readonly columns: FieldMap
}

/** A first line that is broken comes before all others, so that its problem is named. */
const MANY = 1_000_000

/** What Excel takes as the delimiter, on a first line that is no record. */
const SEPARATOR_LINE = /^"?sep=(.)"?\r?$/i

function delimiterNamed(line: Buffer): string | undefined {
  return SEPARATOR_LINE.exec(line.toString('latin1'))?.[1]
}

/** The first record, with this delimiter. */
function readFirst(head: Buffer, isWhole: boolean, delimiter: string): CsvRecord {
  const splitter = new CsvSplitter(delimiter)
  const ended = splitter.push(head)
  const records = isWhole || ended.length === 0 ? [...ended, ...splitter.end()] : ended
  const first = records.find(({ source }) => delimiterNamed(source) === undefined)
  if (first !== undefined) return first
  throw new PlantFileError(`it is empty. Try: a first line ${plantFieldNames.join(',')}`)
}

/** The columns by one delimiter. @throws PlantFileError where that cannot be a line of columns. */
function readColumns({ fields, problem }: CsvRecord, options: CsvOptions): readonly Column[] {
  if (fields === undefined) throw new PlantFileError(`the first line ${problem}`)
  return options.hasHeader
    ? mapColumns(
        fields.map((field) => field ?? ''),
        options.columns,
      )
    : numberColumns(fields.length, options.columns)
}

/**
 * Finds the delimiter and the columns by the first line: the delimiter that a flag or the line itself
 * names, or the one by which the line has all the columns that are needed.
 * @throws PlantFileError where there is none; it names the columns of the one that splits most.
 */
export function findCsvDialect(head: Buffer, isWhole: boolean, options: CsvOptions): CsvDialect {
  const named = delimiterNamed(head.subarray(0, Math.max(head.indexOf('\n'), 0)))
  const given = options.delimiter ?? named
  const candidates = (given === undefined ? [',', ';', '\t'] : [given])
    .map((delimiter) => ({ delimiter, first: readFirst(head, isWhole, delimiter) }))
    .toSorted(({ first: one }, { first: other }) => {
      return (other.fields?.length ?? MANY) - (one.fields?.length ?? MANY)
    })
  const errors: unknown[] = []
  for (const { delimiter, first } of candidates) {
    try {
      return { delimiter, hasHeader: options.hasHeader, columns: readColumns(first, options) }
    } catch (error) {
      errors.push(error)
    }
  }
  throw errors[0]
}

const EXPONENT = /^[+-]?\d+(?:[.,]\d*)?e[+-]?\d+$/i

const SHORTENED = 'is a number as spreadsheets shorten it; its last digits are lost'

function locate(field: string, fields: CsvFields, { columns }: CsvDialect) {
  const index = columns.findIndex((column) => column.field === field)
  const column = columns[index]?.name.trim() ?? field
  const value = fields[index]
  return { column, value: value === undefined ? undefined : inQuotes(value) }
}

function countFields(count: number): string {
  return count === 1 ? '1 field' : `${count} fields`
}

/** The plant of a record by its columns. */
function readPlant(fields: CsvFields, dialect: CsvDialect): PlantOrProblems {
  const { columns, hasHeader } = dialect
  if (fields.length !== columns.length) {
    const message = `has ${countFields(fields.length)} where the first ${hasHeader ? 'line' : 'record'} has ${columns.length}`
    return { problems: [{ message }] }
  }
  const values: Partial<Record<PlantField, unknown>> = {}
  for (let index = 0; index < fields.length; index++) {
    const field = columns[index]?.field
    const text = fields[index]
    if (field === undefined || text === undefined) continue
    const { isText, fromText } = plantFields[field]
    if (!isText && EXPONENT.test(text)) {
      return { problems: [{ ...locate(field, fields, dialect), message: SHORTENED }] }
    }
    values[field] = fromText(text)
  }
  return parsePlant(values, (field) => locate(field, fields, dialect))
}

/** A quote in the wrong place may take in the lines behind it, which nobody would look for. */
function withSpan(problems: readonly RecordProblem[], { line, lastLine }: CsvRecord) {
  if (lastLine === line) return problems
  const message = `quotes make one record of lines ${line} to ${lastLine}, and nothing of it is stored`
  return [...problems, { message }]
}

function toPlantRecord(record: CsvRecord, dialect: CsvDialect): PlantRecord {
  const { line, lastLine, source, isCut, fields, problem } = record
  const found = fields ? readPlant(fields, dialect) : { problems: [{ message: problem ?? '' }] }
  const meaning = found.plant ? found : { problems: withSpan(found.problems, record) }
  return { line, lastLine, source, isCut, fields, ...meaning }
}

/** So much is split into records at once: more of them would outlive the nursery of the heap. */
const PIECE_BYTES = 8_192

/**
 * Reads plants from UTF-8. An empty field is absent, a quoted one (`""`) is the empty text; records
 * whose fields are all empty are passed over, as spreadsheets write them.
 */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  dialect: CsvDialect,
  limitBytes?: number,
): AsyncGenerator<PlantRecord> {
  const splitter = new CsvSplitter(dialect.delimiter, limitBytes)
  let isBegun = false
  let isInHeader = dialect.hasHeader

  function* read(records: readonly CsvRecord[]): Generator<PlantRecord> {
    for (const record of records) {
      const isSeparator = !isBegun && delimiterNamed(record.source) !== undefined
      isBegun = true
      if (isSeparator) continue
      if (isInHeader) isInHeader = false
      else if (!record.fields?.every((field) => field === undefined)) {
        yield toPlantRecord(record, dialect)
      }
    }
  }

  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      yield* read(splitter.push(chunk.subarray(at, at + PIECE_BYTES)))
    }
  }
  yield* read(splitter.end())
}
