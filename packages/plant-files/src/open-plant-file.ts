import { readCsv } from './csv.ts'
import { findCsvDialect } from './csv-dialect.ts'
import type { Dialect, Doubt, ReadOptions } from './dialect.ts'
import { findEncoding } from './encoding.ts'
import { gunzip, isGzip } from './gunzip.ts'
import { readJsonl } from './jsonl.ts'
import { formatOfFile, type PlantFileFormatName } from './plant-file.ts'
import { limitOf, PlantFileError, type PlantRecord } from './plant-record.ts'
import { createToUtf8 } from './to-utf8.ts'

export interface PlantFileReader {
  readonly dialect: Dialect
  /** Every record in order, once; empty lines are passed over. */
  records(): AsyncIterable<PlantRecord>
}

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
async function peek(source: AsyncIterable<Uint8Array>, bytes: number): Promise<Peeked> {
  const iterator = source[Symbol.asyncIterator]()
  const read: Buffer[] = []
  let length = 0
  let isWhole = false
  while (length < bytes && !isWhole) {
    const { done = false, value } = await iterator.next()
    isWhole = done
    if (value !== undefined) read.push(toBuffer(value))
    length += value?.length ?? 0
  }
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      yield* read.splice(0)
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
        yield toBuffer(next.value)
      }
    } finally {
      await iterator.return?.()
    }
  }
  const whole = Buffer.concat(read)
  const head = whole.subarray(0, bytes)
  return { head, isWhole: isWhole && whole.length === head.length, chunks: chunks() }
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const FOREIGN: readonly (readonly [beginning: Buffer, what: string])[] = [
  [Buffer.from('PK\x03\x04'), 'a spreadsheet itself (or another archive). Try: save it as CSV'],
  [Buffer.of(0xd0, 0xcf, 0x11, 0xe0), 'a spreadsheet itself. Try: save it as CSV'],
  [Buffer.of(0x28, 0xb5, 0x2f, 0xfd), 'packed by zstd. Try: unpack it'],
  [Buffer.from('BZh'), 'packed by bzip2. Try: unpack it'],
  [Buffer.from('\xfd7zXZ', 'latin1'), 'packed by xz. Try: unpack it'],
]

function refuseForeign(head: Buffer): void {
  for (const [beginning, what] of FOREIGN) {
    if (head.subarray(0, beginning.length).equals(beginning)) {
      throw new PlantFileError(`it is no text but ${what}`)
    }
  }
}

async function* toUtf8(
  chunks: AsyncIterable<Buffer>,
  encoding: Dialect['encoding'],
  byteOrderMarkBytes: number,
): AsyncGenerator<Buffer> {
  const decoder = createToUtf8(encoding)
  let markLeft = byteOrderMarkBytes
  for await (const chunk of chunks) {
    const text = markLeft > 0 ? chunk.subarray(markLeft) : chunk
    markLeft -= chunk.length - text.length
    yield decoder.push(text)
  }
  yield decoder.end()
}

function findFormat(head: Buffer, nameOfFile: string): PlantFileFormatName {
  const named = formatOfFile(nameOfFile)
  if (named === 'jsonl') return named
  const beginning = head.toString('utf8', 0, 64).trimStart()[0]
  if (beginning === '[' && named === undefined) {
    throw new PlantFileError("it is one array of JSON. Try: jq -c '.[]' to make JSON lines of it")
  }
  return beginning === '{' || (beginning === undefined && named === undefined) ? 'jsonl' : 'csv'
}

/**
 * Reads the beginning of a file to find out how it is written: format, gzip, encoding, delimiter and
 * columns. Memory is bounded by `limitBytes`, whatever the bytes are.
 * @throws PlantFileError when no record can be read; `records()` throws it where gzip is cut.
 */
export async function openPlantFile(
  chunks: AsyncIterable<Uint8Array>,
  nameOfFile: string,
  options: ReadOptions,
): Promise<PlantFileReader> {
  const packed = await peek(chunks, HEAD_BYTES)
  const isPacked = isGzip(packed.head)
  const bytes = isPacked ? await peek(gunzip(packed.chunks), HEAD_BYTES) : packed
  refuseForeign(bytes.head)
  const { encoding, byteOrderMarkBytes, doubt } = findEncoding(
    bytes.head,
    bytes.isWhole,
    options.encoding,
  )
  const decoder = createToUtf8(encoding)
  const text = [decoder.push(Buffer.from(bytes.head.subarray(byteOrderMarkBytes)))]
  if (bytes.isWhole) text.push(decoder.end())
  const head = Buffer.concat(text)
  const format = options.format ?? findFormat(head, nameOfFile)
  const limit = limitOf(options, encoding)
  const csv = format === 'csv' ? findCsvDialect(head, bytes.isWhole, options, limit) : undefined
  const encodingDoubts = doubt ? [doubt] : format === 'jsonl' ? jsonlDoubts(encoding, options) : []
  const utf8 = toUtf8(bytes.chunks, encoding, byteOrderMarkBytes)
  return {
    dialect: {
      format,
      isGzip: isPacked,
      encoding,
      hasByteOrderMark: byteOrderMarkBytes > 0,
      delimiter: csv?.delimiter,
      hasHeader: csv?.hasHeader,
      isRejects: csv?.isRejects ?? false,
      columns: csv?.columns ?? [],
      doubts: [...encodingDoubts, ...(csv?.doubts ?? [])],
      sample: csv?.sample ?? [],
    },
    records: () => (csv ? readCsv(utf8, csv, limit) : readJsonl(utf8, limit)),
  }
}

/** JSON is UTF-8 (RFC 8259 §8.1), so a guess at anything else without a byte order mark is doubtful. */
function jsonlDoubts(encoding: Dialect['encoding'], { encoding: asked }: ReadOptions): Doubt[] {
  if (encoding !== 'windows-1252' || asked !== undefined) return []
  return [{ question: 'it is not UTF-8, though JSON is always UTF-8', flag: '--encoding' }]
}
