import type { NewPlant } from '@plant-store/contract'
import { type CsvField, type CsvRecord, type CsvSpan, CsvSplitter } from './csv-records.ts'
import { type PlantField, plantFieldNames, plantFields } from './plant-fields.ts'
import { PlantFileError, type PlantRecord, parsePlant } from './record.ts'

const NEEDS_QUOTES = /[",\r\n]|^$/

function writeText(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function writeField(value: NewPlant[PlantField]): string {
  return value === undefined ? '' : writeText(String(value))
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

const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

/** Spreadsheets begin UTF-8 with a byte order mark, which is no part of the first field. */
async function* withoutByteOrderMark(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (head === undefined) {
      yield chunk
      continue
    }
    head = Buffer.concat([head, chunk])
    if (head.length < BYTE_ORDER_MARK.length) continue
    const isMarked = head.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    yield isMarked ? head.subarray(BYTE_ORDER_MARK.length) : head
    head = undefined
  }
  if (head !== undefined) yield head
}

type Columns = readonly (PlantField | undefined)[]

const HEADER_HINT = `Try: a first line that is ${csvHeader.trim()}`

function findField(name: string): PlantField | undefined {
  return plantFieldNames.find((field) => field === name)
}

/** Which column is which, in any order; columns of other names are passed over. */
function readHeader(fields: readonly CsvField[]): Columns {
  const names = fields.map(({ text }) => text)
  for (const field of plantFieldNames) {
    const times = names.filter((name) => name === field).length
    if (times > 1) throw new PlantFileError(`the first line names ${field} twice. ${HEADER_HINT}`)
    if (times === 0 && plantFields[field].isRequired) {
      throw new PlantFileError(`the first line names no column ${field}. ${HEADER_HINT}`)
    }
  }
  return names.map(findField)
}

const EXPONENT = /^[+-]?\d+(?:[.,]\d*)?e[+-]?\d+$/i

const LONGEST_SHOWN = 40

function readRecord(columns: Columns, fields: readonly CsvField[]): ReturnType<typeof parsePlant> {
  if (fields.length !== columns.length) {
    return { problem: `has ${fields.length} fields where the first line has ${columns.length}` }
  }
  const values: Partial<Record<PlantField, unknown>> = {}
  for (const [index, { text, isQuoted }] of fields.entries()) {
    const field = columns[index]
    if (field === undefined || (text === '' && !isQuoted)) continue
    const { isText, fromText } = plantFields[field]
    if (!isText && EXPONENT.test(text)) {
      const shown = text.slice(0, LONGEST_SHOWN)
      return {
        problem: `${field}: ${shown} is a number as spreadsheets shorten it; its last digits are lost`,
      }
    }
    values[field] = fromText(text)
  }
  return parsePlant(values)
}

/** A quote in the wrong place takes in the lines behind it, which nobody would look for. */
function withSpan(problem: string, span: CsvSpan | undefined): string {
  if (span === undefined) return problem
  const { from, through } = span
  return `${problem}; the quote that opens on line ${from} makes one record of all through line ${through}, and nothing of it is stored`
}

/**
 * Reads plants by the names of the first line. An empty field is absent, a quoted one (`""`) is the
 * empty text.
 * @throws PlantFileError when the first line does not name the columns id and name.
 */
export async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes: number,
): AsyncGenerator<PlantRecord> {
  const splitter = new CsvSplitter(limitBytes)
  let columns: Columns | undefined

  function* read(records: Iterable<CsvRecord>): Generator<PlantRecord> {
    for (const { line, span, fields, problem } of records) {
      if (columns === undefined) {
        if (fields === undefined)
          throw new PlantFileError(`the first line ${withSpan(problem, span)}. ${HEADER_HINT}`)
        columns = readHeader(fields)
        continue
      }
      const read = fields === undefined ? { problem } : readRecord(columns, fields)
      if ('plant' in read) yield { line, plant: read.plant }
      else yield { line, problem: withSpan(read.problem, span) }
    }
  }

  for await (const chunk of withoutByteOrderMark(chunks)) yield* read(splitter.push(chunk))
  yield* read(splitter.end())
  if (columns === undefined) throw new PlantFileError(`it is empty. ${HEADER_HINT}`)
}
