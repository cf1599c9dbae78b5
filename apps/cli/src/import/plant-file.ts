import { plantFieldNames } from '../plant-fields.ts'
import type { Column } from './columns.ts'
import { type CsvDialect, type CsvOptions, findCsvDialect, readCsv } from './csv.ts'
import { createDecoder, type Encoding, findEncoding, refuseInvalid, toUtf8 } from './decode.ts'
import { findMembers, readJsonl } from './jsonl.ts'
import { PlantFileError, type PlantRecord } from './plant-record.ts'

export const FORMATS = ['csv', 'jsonl'] as const
export type Format = (typeof FORMATS)[number]

/** How the bytes of a file are to be read; what is not given is found out from its beginning. */
export interface ReadOptions extends CsvOptions {
  readonly format?: Format | undefined
  /** As TextDecoder calls it. A byte order mark counts more. */
  readonly encoding?: string | undefined
}

/** How a file is read. */
export interface Dialect {
  readonly encoding: Encoding
  /** Undefined for JSON lines. */
  readonly csv: CsvDialect | undefined
  /** The columns of CSV; of JSON lines the members that a person spoke of. */
  readonly columns: readonly Column[]
  /** The id of the first row, where rows are numbered. */
  readonly firstId?: bigint | undefined
}

export interface PlantFile {
  readonly dialect: Dialect
  /** Every record in order, once; empty lines are passed over. */
  records(): AsyncIterable<PlantRecord>
}

const COLUMNS = plantFieldNames.join(',')

/** How much of a file is read to find out how it is written. */
const HEAD_BYTES = 65_536

/** The first bytes, whether they are all, and all bytes from the first on, in the pieces that came. */
async function peek(source: AsyncIterable<Buffer>) {
  const iterator = source[Symbol.asyncIterator]()
  const read: Buffer[] = []
  let [length, isWhole] = [0, false]
  while (length < HEAD_BYTES && !isWhole) {
    const { done = false, value } = await iterator.next()
    isWhole = done
    if (value !== undefined) read.push(value)
    length += value?.length ?? 0
  }
  const head = Buffer.concat(read)
  async function* chunks(): AsyncGenerator<Buffer> {
    yield* read.splice(0)
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return { head, isWhole, chunks: chunks() }
}

/** How files begin that are no text, and what makes text of them. */
const NO_TEXT: readonly (readonly [Buffer, string])[] = [
  [Buffer.from('PK\x03\x04'), 'a spreadsheet itself. Try: save it as CSV'],
  [Buffer.of(0xd0, 0xcf, 0x11, 0xe0), 'a spreadsheet itself. Try: save it as CSV'],
  [Buffer.of(0x1f, 0x8b), 'gzip. Try: zcat FILE | plant-store import -'],
]

function refuseOtherThanText(head: Buffer): void {
  for (const [beginning, what] of NO_TEXT) {
    if (!head.subarray(0, beginning.length).equals(beginning)) continue
    throw new PlantFileError(`it is no text but ${what}`)
  }
}

/** The head as UTF-8. @throws PlantFileError where its first line is not in the encoding. */
function decodeHead(head: Buffer, isWhole: boolean, { name, markBytes }: Encoding): Buffer {
  const text = createDecoder(name)(head.subarray(markBytes), isWhole)
  const end = text.indexOf('\n')
  const source = text.subarray(0, end < 0 ? text.length : end)
  if (name === 'utf-8' && source.includes(0)) {
    throw new PlantFileError('it seems to be UTF-16. Try: --encoding utf-16le, or utf-16be')
  }
  refuseInvalid({ line: 1, lastLine: 1, source, isCut: end < 0 && !isWhole }, name)
  return text
}

function findFormat(head: Buffer, nameOfFile: string): Format {
  if (/\.(?:jsonl|ndjson)$/i.test(nameOfFile)) return 'jsonl'
  const beginning = head.toString('utf8', 0, 64).trimStart()[0]
  if (beginning === '[') {
    throw new PlantFileError("it is one array of JSON. Try: jq -c '.[]' to make JSON lines of it")
  }
  return beginning === '{' ? 'jsonl' : 'csv'
}

/**
 * Reads the beginning of a file to find out how it is written: format, byte order mark,
 * delimiter and columns. Memory is bounded, whatever the bytes are.
 * @throws PlantFileError when no record can be read; `records()` throws it for a record that is not in
 * the encoding.
 */
export async function openPlantFile(
  source: AsyncIterable<Buffer>,
  nameOfFile: string,
  options: ReadOptions,
): Promise<PlantFile> {
  const { head: bytes, isWhole, chunks } = await peek(source)
  refuseOtherThanText(bytes)
  const encoding = findEncoding(bytes, options.encoding)
  const head = decodeHead(bytes, isWhole, encoding)
  if (head.length === 0) throw new PlantFileError(`it is empty. Try: a first line ${COLUMNS}`)
  const format = options.format ?? findFormat(head, nameOfFile)
  const isJson = format === 'jsonl'
  if (isJson && options.delimiter) throw new PlantFileError('it is JSON lines without a delimiter')
  const csv = isJson ? undefined : findCsvDialect(head, isWhole, options)
  const columns = csv?.columns ?? findMembers(head, isWhole, options)
  const { numberRows: firstId } = options
  return {
    dialect: { encoding, csv, columns, firstId },
    async *records() {
      const text = toUtf8(chunks, encoding)
      const records = csv ? readCsv(text, csv, firstId) : readJsonl(text, columns, firstId)
      for await (const record of records) {
        refuseInvalid(record, encoding.name)
        yield record
      }
    },
  }
}

/** `CSV ";", windows-1252, columns ID→id, name; ignored: Price` */
export function describeDialect({ encoding, csv, columns, firstId }: Dialect): string {
  const [used, unused]: [string[], string[]] = [[], []]
  for (const [index, { name: own, field }] of columns.entries()) {
    const name = own.trim() || `column ${index + 1}`
    if (field === undefined) unused.push(name)
    else used.push(name === field ? name : `${name}→${field}`)
  }
  const delimiter = csv?.delimiter === '\t' ? 'tab' : JSON.stringify(csv?.delimiter)
  const parts = [csv === undefined ? 'JSON lines' : `CSV ${delimiter}`, encoding.name]
  if (used.length > 0) parts.push(`columns ${used.join(', ')}`)
  if (firstId !== undefined) parts.push(`rows numbered from ${firstId}`)
  return parts.join(', ') + (unused.length === 0 ? '' : `; ignored: ${unused.join(', ')}`)
}
