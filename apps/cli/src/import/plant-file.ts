import { plantFieldNames } from '../plant-fields.ts'
import { type CsvDialect, type CsvOptions, findCsvDialect, readCsv } from './csv.ts'
import { createDecoder, type Encoding, findEncoding, refuseInvalid, toUtf8 } from './decode.ts'
import { readJsonl } from './jsonl.ts'
import { PlantFileError, type PlantRecord } from './plant-record.ts'

export type Format = 'csv' | 'jsonl'

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
}

export interface PlantFile {
  readonly dialect: Dialect
  /** Every record in order, once; empty lines are passed over. */
  records(): AsyncIterable<PlantRecord>
}

const COLUMNS = plantFieldNames.join(',')

/** How much of a file is read to find out how it is written. */
const HEAD_BYTES = 65_536

interface Peeked {
  readonly head: Buffer
  /** Whether the head is all. */
  readonly isWhole: boolean
  /** Everything, from the first byte on. */
  readonly chunks: AsyncIterable<Buffer>
}

/** Reads the first bytes; how they are split into chunks changes nothing. */
async function peek(source: AsyncIterable<Buffer>): Promise<Peeked> {
  const iterator = source[Symbol.asyncIterator]()
  const read: Buffer[] = []
  let length = 0
  let isWhole = false
  while (length < HEAD_BYTES && !isWhole) {
    const { done = false, value } = await iterator.next()
    isWhole = done
    if (value !== undefined) read.push(value)
    length += value?.length ?? 0
  }
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      yield* read.splice(0)
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
        yield next.value
      }
    } finally {
      await iterator.return?.()
    }
  }
  return { head: Buffer.concat(read), isWhole, chunks: chunks() }
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
function decodeHead({ head, isWhole }: Peeked, encoding: Encoding): Buffer {
  const text = createDecoder(encoding).decode(head, isWhole)
  const end = text.indexOf('\n')
  const source = text.subarray(0, end < 0 ? text.length : end)
  if (encoding.name === 'utf-8' && source.includes(0)) {
    throw new PlantFileError('it seems to be UTF-16. Try: --encoding utf-16le, or utf-16be')
  }
  refuseInvalid({ line: 1, lastLine: 1, source, isCut: end < 0 && !isWhole }, encoding.name)
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
  chunks: AsyncIterable<Buffer>,
  nameOfFile: string,
  options: ReadOptions,
): Promise<PlantFile> {
  const bytes = await peek(chunks)
  refuseOtherThanText(bytes.head)
  const encoding = findEncoding(bytes.head, options.encoding)
  const head = decodeHead(bytes, encoding)
  if (head.length === 0) throw new PlantFileError(`it is empty. Try: a first line ${COLUMNS}`)
  const format = options.format ?? findFormat(head, nameOfFile)
  const csv = format === 'csv' ? findCsvDialect(head, bytes.isWhole, options) : undefined
  return {
    dialect: { encoding, csv },
    async *records() {
      const text = toUtf8(bytes.chunks, encoding)
      for await (const record of csv ? readCsv(text, csv) : readJsonl(text)) {
        refuseInvalid(record, encoding.name)
        yield record
      }
    },
  }
}

/** `","`, `tab` */
function describeDelimiter(delimiter: string): string {
  return delimiter === '\t' ? 'tab' : JSON.stringify(delimiter)
}

/** `CSV ";", windows-1252, columns ID→id, name; passed over: Price` */
export function describeDialect({ encoding, csv }: Dialect): string {
  const columns = csv?.columns ?? []
  const used = columns.flatMap(({ name, field }) => {
    return field === undefined ? [] : [name === field ? name : `${name}→${field}`]
  })
  const unused = columns.flatMap(({ name, field }) => (field === undefined ? [name] : []))
  const parts = [
    csv === undefined ? 'JSON lines' : `CSV ${describeDelimiter(csv.delimiter)}`,
    encoding.name,
    ...(used.length === 0 ? [] : [`columns ${used.join(', ')}`]),
  ]
  return parts.join(', ') + (unused.length === 0 ? '' : `; passed over: ${unused.join(', ')}`)
}
