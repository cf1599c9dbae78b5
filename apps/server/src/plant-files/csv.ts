import type { NewPlant } from '@plant-store/contract'
import { type CsvField, type CsvRecord, type CsvSpan, CsvSplitter } from './csv-records.ts'
import type { PlantRecord } from './plant-file.ts'
import { PlantFileError, parsePlant } from './problem.ts'

const NEEDS_QUOTES = /[",\r\n]|^$/

function writeText(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * A record for each plant, `id,name,tag`, quoted as RFC 4180 has it and ended by LF.
 * An absent tag is an empty field, an empty tag a quoted one: `""`.
 */
export function writeCsv(plants: readonly NewPlant[]): string {
  return plants
    .map(({ id, name, tag }) => {
      return `${id},${writeText(name)},${tag === undefined ? '' : writeText(tag)}\n`
    })
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

type Column = 'id' | 'name' | 'tag'
type Columns = readonly (Column | undefined)[]

const HEADER_HINT = 'Try: a first line that is id,name,tag'

/** Which column is which, in any order; columns of other names are passed over. */
function readHeader(fields: readonly CsvField[]): Columns {
  const names = fields.map(({ text }) => text)
  for (const name of ['id', 'name', 'tag']) {
    const times = names.filter((other) => other === name).length
    if (times > 1) throw new PlantFileError(`the first line names ${name} twice. ${HEADER_HINT}`)
    if (times === 0 && name !== 'tag') {
      throw new PlantFileError(`the first line names no column ${name}. ${HEADER_HINT}`)
    }
  }
  return names.map((name) => (['id', 'name', 'tag'].includes(name) ? (name as Column) : undefined))
}

/** An integer with all of its digits, which int64 has at most 19 of. */
const INTEGER = /^-?(?:0|[1-9]\d{0,18})$/

const EXPONENT = /^[+-]?\d+(?:[.,]\d*)?e[+-]?\d+$/i

const LONGEST_SHOWN = 40

function readRecord(columns: Columns, fields: readonly CsvField[]): ReturnType<typeof parsePlant> {
  if (fields.length !== columns.length) {
    return { problem: `has ${fields.length} fields where the first line has ${columns.length}` }
  }
  const value: { id?: string | bigint; name?: string; tag?: string } = {}
  fields.forEach(({ text, isQuoted }, index) => {
    const column = columns[index]
    if (column !== undefined && (text !== '' || isQuoted)) value[column] = text
  })
  const { id } = value
  if (typeof id === 'string' && EXPONENT.test(id)) {
    const shown = id.slice(0, LONGEST_SHOWN)
    return {
      problem: `id: ${shown} is a number as spreadsheets shorten it; its last digits are lost`,
    }
  }
  if (typeof id === 'string' && INTEGER.test(id)) value.id = BigInt(id)
  return parsePlant(value)
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
