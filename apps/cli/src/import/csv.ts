import { type PlantField, plantFields } from '../plant-fields.ts'
import { type Column, type FieldMap, mapColumns } from './columns.ts'
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
  /** How many records come before the first plant. */
  readonly headers: number
  readonly columns: readonly Column[]
}

/** What a person says of a file of CSV. */
export interface CsvOptions {
  readonly delimiter?: string | undefined
  readonly map: FieldMap
}

/** What Excel takes as the delimiter, on a first line that is no record. */
const SEPARATOR_LINE = /^"?sep=(.)"?\r?\n/i

/** The first records, with this delimiter. */
function readFirst(head: Buffer, isWhole: boolean, delimiter: string): readonly CsvRecord[] {
  const splitter = new CsvSplitter(delimiter)
  const ended = splitter.push(head)
  return isWhole || ended.length === 0 ? [...ended, ...splitter.end()] : ended
}

function readColumns(record: CsvRecord | undefined, options: CsvOptions): readonly Column[] {
  if (record === undefined) throw new PlantFileError('it has empty lines alone')
  const { fields, problem } = record
  if (fields === undefined) throw new PlantFileError(`the first line ${problem}`)
  return mapColumns(fields, options.map)
}

/**
 * Finds the delimiter and the columns by the first line: the delimiter that a flag or the line itself
 * names, or the one by which the line has all the columns that are needed.
 * @throws PlantFileError where there is none; it names the columns of the one that splits most.
 */
export function findCsvDialect(head: Buffer, isWhole: boolean, options: CsvOptions): CsvDialect {
  const named = SEPARATOR_LINE.exec(head.toString('latin1', 0, 20))?.[1]
  const given = options.delimiter ?? named
  const above = named === undefined ? 0 : 1
  const countOf = (record: CsvRecord | undefined) => record?.fields?.length ?? 0
  const candidates = (given === undefined ? [',', ';', '\t'] : [given])
    .map((delimiter) => ({ delimiter, first: readFirst(head, isWhole, delimiter)[above] }))
    .toSorted(({ first: one }, { first: other }) => countOf(other) - countOf(one))
  const errors: unknown[] = []
  for (const { delimiter, first } of candidates) {
    try {
      const columns = readColumns(first, options)
      return { delimiter, headers: above + 1, columns }
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
  return { column, value: value ? inQuotes(value) : undefined }
}

/** The plant of a record by its columns; an empty cell is absent, quoted or not. */
function readPlant(fields: CsvFields, dialect: CsvDialect): PlantOrProblems {
  const { columns } = dialect
  if (fields.length !== columns.length) {
    const count = fields.length === 1 ? '1 field' : `${fields.length} fields`
    const message = `has ${count} where the first line has ${columns.length}`
    return { problems: [{ message }] }
  }
  const values: Partial<Record<PlantField, unknown>> = {}
  for (let index = 0; index < fields.length; index++) {
    const field = columns[index]?.field
    const text = fields[index]
    if (field === undefined || !text) continue
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

/** Reads plants from UTF-8. Records without anything in them are passed over, as spreadsheets write them. */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  dialect: CsvDialect,
  limitBytes?: number,
): AsyncGenerator<PlantRecord> {
  let left = dialect.headers
  for await (const record of new CsvSplitter(dialect.delimiter, limitBytes).split(chunks)) {
    if (left > 0) left--
    else if (!record.fields?.every((field) => field === '')) yield toPlantRecord(record, dialect)
  }
}
