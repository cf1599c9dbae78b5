import { type PlantField, plantFields } from '../plant-fields.ts'
import { type Column, type ColumnOptions, type ColumnProblem, mapColumns } from './columns.ts'
import type { CsvFields } from './csv-record.ts'
import { CsvSplitter } from './csv-splitter.ts'
import {
  inQuotes,
  PlantFileError,
  type PlantOrProblems,
  type PlantRecord,
  parsePlant,
} from './plant-record.ts'

/** How a file of CSV is written. */
export interface CsvDialect {
  readonly delimiter: string
  /** How many records come before the first plant. */
  readonly headers: number
  readonly columns: readonly Column[]
}

/** What a person says of a file of CSV. */
export interface CsvOptions extends ColumnOptions {
  readonly delimiter?: string | undefined
  /** What a person was asked for; then the others do not count. */
  readonly csv?: CsvDialect
}

/** It is not clear which column is which. */
export class UnclearCsv extends PlantFileError {
  /** What is not clear, without the columns and the flags. */
  readonly why: string
  /** As far as it is clear. */
  readonly dialect: CsvDialect
  /** The first rows. */
  readonly rows: readonly CsvFields[]

  constructor(problems: readonly ColumnProblem[], dialect: CsvDialect, rows: readonly CsvFields[]) {
    const why = problems.map(({ what }) => what).join('; ')
    const flags = problems.flatMap((problem) => problem.flags ?? [])
    if (dialect.columns.length === 1) flags.push('--delimiter, if that is more than one column')
    const hint = flags.length === 0 ? '' : `. Try: ${flags.join('; ')}`
    super(`${why}; its columns are ${describeColumns(dialect)}${hint}`)
    this.why = why
    this.dialect = dialect
    this.rows = rows
  }
}

/** What Excel takes as the delimiter, on a first line that is no record. */
const SEPARATOR_LINE = /^"?sep=(.)"?\r?\n/i

/** Those that are found without a flag. */
export const DELIMITERS = [',', ';', '\t', '|']

const MOST_SHOWN = 12

/** `1 "Plant No", 2 "Name"` */
function describeColumns({ columns }: CsvDialect): string {
  const shown = columns.slice(0, MOST_SHOWN).map(({ name }, at) => `${at + 1} ${inQuotes(name)}`)
  const more = columns.length > MOST_SHOWN ? [`and ${columns.length - MOST_SHOWN} more`] : []
  return [...shown, ...more].join(', ')
}

/**
 * Finds the delimiter and the columns by the first line: the delimiter that a flag or the line itself
 * names, or the one by which the line has all the columns that are needed.
 * @throws UnclearCsv where there is none, by the one that splits most.
 */
export function findCsvDialect(head: Buffer, isWhole: boolean, options: CsvOptions): CsvDialect {
  if (options.csv !== undefined) return options.csv
  const named = SEPARATOR_LINE.exec(head.toString('latin1', 0, 20))?.[1]
  const given = options.delimiter ?? named
  const headers = named === undefined ? 1 : 2
  const readings = (given === undefined ? DELIMITERS : [given]).map((delimiter) => {
    const records = new CsvSplitter(delimiter).splitHead(head, isWhole, headers)
    const { fields = [], problem = 'is empty' } = records[headers - 1] ?? {}
    const { columns, problems } = mapColumns(fields, options)
    return { records, problem, problems, dialect: { delimiter, headers, columns } }
  })
  readings.sort((one, other) => other.dialect.columns.length - one.dialect.columns.length)
  const [best] = readings
  const clear = readings.find(({ problems }) => problems.length === 0)
  if (clear !== undefined) return clear.dialect
  if (best === undefined || best.dialect.columns.length === 0) {
    throw new PlantFileError(`the first line ${best?.problem}`)
  }
  const rows = best.records.slice(headers, headers + 3).map(({ fields = [] }) => fields)
  throw new UnclearCsv(best.problems, best.dialect, rows)
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
function readPlant(fields: CsvFields, dialect: CsvDialect, id?: bigint): PlantOrProblems {
  const { columns } = dialect
  if (fields.length !== columns.length) {
    const count = fields.length === 1 ? '1 field' : `${fields.length} fields`
    const message = `has ${count} where the first line has ${columns.length}`
    return { problems: [{ message }] }
  }
  const values: Partial<Record<PlantField, unknown>> = { id }
  for (const [index, { field }] of columns.entries()) {
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

/**
 * Reads plants from UTF-8. Records without anything in them are passed over, as spreadsheets write
 * them. Where `firstId` is given, each record has its id by its place.
 */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  dialect: CsvDialect,
  firstId?: bigint,
  limitBytes?: number,
): AsyncGenerator<PlantRecord> {
  let [headers, id] = [dialect.headers, firstId]
  for await (const record of new CsvSplitter(dialect.delimiter, limitBytes).split(chunks)) {
    const { problem: message = '', ...others } = record
    if (headers-- > 0 || others.fields?.every((field) => field === '')) continue
    const { fields, line, lastLine } = others
    const meaning = fields ? readPlant(fields, dialect, id) : { problems: [{ message }] }
    // A quote in the wrong place may take in the lines behind it, which nobody would look for.
    const span = `quotes make one record of lines ${line} to ${lastLine}, and nothing of it is stored`
    if (lastLine > line) meaning.problems?.push({ message: span })
    yield { ...others, id, ...meaning }
    if (id !== undefined) id++
  }
}
