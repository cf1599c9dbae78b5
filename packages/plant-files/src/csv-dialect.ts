import { fieldNamed, mapColumns, numberColumns } from './columns.ts'
import type { CsvFields } from './csv-record.ts'
import { CsvSplitter } from './csv-splitter.ts'
import { describeDelimiter } from './describe-dialect.ts'
import { type Column, type Delimiter, type Doubt, delimiters, type ReadOptions } from './dialect.ts'
import { plantFieldNames } from './plant-fields.ts'
import { type Limit, PlantFileError, shorten } from './plant-record.ts'
import { isRejectsHeader } from './rejects-columns.ts'

export interface CsvDialect {
  readonly delimiter: Delimiter
  readonly hasHeader: boolean
  readonly isRejects: boolean
  readonly columns: readonly Column[]
  readonly doubts: readonly Doubt[]
  readonly sample: readonly (readonly string[])[]
}

const HEADER = `that is ${plantFieldNames.join(',')}`

/** What Excel takes as the delimiter, on a first line that is no record. */
const SEPARATOR_LINE = /^"?sep=([,;\t])"?\r?$/i

/** The delimiter that the first line of a file names for spreadsheets, if it is such a line. */
export function delimiterNamed(line: Uint8Array): Delimiter | undefined {
  const [, delimiter] = SEPARATOR_LINE.exec(Buffer.from(line).toString('latin1')) ?? []
  return delimiters.find((known) => known === delimiter)
}

interface Reading {
  readonly delimiter: Delimiter
  /** The first record, which may be the header; undefined where it is broken. */
  readonly first: readonly string[] | undefined
  readonly problem: string | undefined
  /** The records from the first one on. */
  readonly rows: readonly CsvFields[]
}

const ROWS_LOOKED_AT = 50

function readHead(head: Buffer, isWhole: boolean, delimiter: Delimiter, limit: Limit): Reading {
  const splitter = new CsvSplitter(delimiter, limit)
  const ended = splitter.push(head)
  const all = isWhole || ended.length === 0 ? [...ended, ...splitter.end()] : ended
  const records = all[0] && delimiterNamed(all[0].source) ? all.slice(1) : all
  const [start] = records
  if (start === undefined) throw new PlantFileError(`it is empty. Try: a first line ${HEADER}`)
  return {
    delimiter,
    first: start.fields?.map((field) => field ?? ''),
    problem: start.problem,
    rows: records.slice(0, ROWS_LOOKED_AT).flatMap(({ fields }) => (fields ? [fields] : [])),
  }
}

type FieldMap = Exclude<ReadOptions['columns'], undefined>

/** An integer, or a number as spreadsheets shorten it. */
const LIKE_A_NUMBER = /^\s*[+-]?\d+(?:[.,]\d*)?(?:e[+-]?\d+)?\s*$/i

function namesAllFields({ first = [] }: Reading, map: FieldMap): boolean {
  if (isRejectsHeader(first)) return true
  try {
    return mapColumns(first, map).length > 0
  } catch (error) {
    if (error instanceof PlantFileError) return false
    throw error
  }
}

function namesAnyField(names: readonly string[], map: FieldMap): boolean {
  const wanted = Object.keys(map).filter((name) => !LIKE_A_NUMBER.test(name))
  return names.some((name) => fieldNamed(name) !== undefined || wanted.includes(name))
}

function isEven({ first, rows }: Reading): boolean {
  return first !== undefined && rows.every(({ length }) => length > 1 && length === rows[0]?.length)
}

function hasNumber({ first = [] }: Reading): boolean {
  return first.some((cell) => LIKE_A_NUMBER.test(cell))
}

const widthOf = ({ first = [] }: Reading) => first.length

/** The reading by the delimiter that fits best, and a doubt where another fits as well. */
function choose(
  readings: readonly Reading[],
  map: FieldMap,
): { readonly reading: Reading; readonly doubts: readonly Doubt[] } {
  const isBroken = ({ first }: Reading) => first === undefined
  const rules = [
    (reading: Reading) => namesAllFields(reading, map),
    (reading: Reading) => isEven(reading) && hasNumber(reading),
    isEven,
    (reading: Reading) => widthOf(reading) > 1,
    isBroken,
    () => true,
  ]
  const fits = rules.map((rule) => readings.filter(rule)).find(({ length }) => length > 0) ?? []
  const [reading, other] = fits.toSorted((one, two) => widthOf(two) - widthOf(one))
  if (reading === undefined) throw new Error('there is no delimiter to choose from')
  const isDoubtful = other !== undefined && widthOf(other) > 1
  const question = `its fields may end with ${fits.map(({ delimiter }) => describeDelimiter(delimiter)).join(' or ')}`
  return { reading, doubts: isDoubtful ? [{ question, flag: '--delimiter' }] : [] }
}

function findHeader(
  first: readonly string[],
  map: FieldMap,
): { hasHeader: boolean; doubts: Doubt[] } {
  const isData = !namesAnyField(first, map) && first.some((cell) => LIKE_A_NUMBER.test(cell))
  if (!isData) return { hasHeader: true, doubts: [] }
  const question = 'its first line looks like a plant, not like the names of columns'
  return { hasHeader: false, doubts: [{ question, flag: '--no-header' }] }
}

const ROWS_SHOWN = 5

/**
 * Finds out how a file of CSV is written, by its beginning as UTF-8.
 * @throws PlantFileError where that cannot be read as plants.
 */
export function findCsvDialect(
  head: Buffer,
  isWhole: boolean,
  { delimiter, hasHeader: asked, columns: map = {} }: ReadOptions,
  limit: Limit,
): CsvDialect {
  const named = delimiterNamed(head.subarray(0, Math.max(head.indexOf('\n'), 0)))
  const given = delimiter ?? named
  const candidates = given === undefined ? delimiters : [given]
  const chosen = choose(
    candidates.map((candidate) => readHead(head, isWhole, candidate, limit)),
    map,
  )
  const { first, problem, rows } = chosen.reading
  if (first === undefined) throw new PlantFileError(`the first line ${problem}`)
  const isRejects = isRejectsHeader(first)
  const found =
    asked === undefined || isRejects ? findHeader(first, map) : { hasHeader: asked, doubts: [] }
  const hasHeader = isRejects || found.hasHeader
  return {
    delimiter: chosen.reading.delimiter,
    hasHeader,
    isRejects,
    columns: hasHeader ? mapColumns(first, map, isRejects) : numberColumns(first.length, map),
    doubts: [...chosen.doubts, ...(isRejects ? [] : found.doubts)],
    sample: rows
      .slice(hasHeader ? 1 : 0)
      .slice(0, ROWS_SHOWN)
      .map((fields) => fields.map((field) => shorten(field ?? ''))),
  }
}
