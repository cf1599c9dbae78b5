import {
  CARRIAGE_RETURN,
  type CsvFields,
  LINE_FEED,
  NEVER_CLOSED,
  QUOTE,
  readQuotedRecord,
  splitLine,
} from './csv-record.ts'
import type { RecordSource } from './plant-record.ts'

/** The longest record that is read: 16 times what a server takes unless its operator allows more. */
const LONGEST_RECORD_BYTES = 1_048_576

/** What is kept of a record that is longer. */
const CUT_BYTES = 1_000

/** One record of a file, and its fields, or why its line is none. */
export interface CsvRecord extends RecordSource {
  readonly fields?: CsvFields
  readonly problem?: string
}

/** A record ends with LF or CR LF; both have to fit behind the limit. */
const LINE_BREAK_BYTES = 2

/** So much is split into records at once: more of them would outlive the nursery of the heap. */
const PIECE_BYTES = 8_192

/**
 * Splits UTF-8 into records as RFC 4180 has it, or into lines where there is no delimiter; lines may
 * end with LF or CR LF, and empty ones are passed over. Where a record is broken, its first line is a
 * problem and reading goes on at the next line, so that a quote that is never closed costs one line:
 * csv-parse 7 loses what is behind it.
 */
export class CsvSplitter {
  readonly #delimiter: string | undefined
  readonly #limitBytes: number
  readonly #tooLong: string
  /** What was not read yet; begins where a record does. */
  #parts: Buffer[] = []
  #partsBytes = 0
  /** A record that was not whole is not tried again before there are so many bytes. */
  #wantedBytes = 0
  /** Whether the bytes at hand belong to a line that was too long. */
  #isSkipping = false
  #line = 1
  #records: CsvRecord[] = []

  constructor(delimiter: string | undefined, limitBytes = LONGEST_RECORD_BYTES) {
    this.#delimiter = delimiter
    this.#limitBytes = limitBytes
    this.#tooLong = `is longer than ${limitBytes} bytes`
  }

  /** The records of a whole text. */
  async *split(chunks: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord> {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        yield* this.#push(chunk.subarray(at, at + PIECE_BYTES))
      }
    }
    yield* this.#split(true)
  }

  /** The records of the beginning of a text: those that end, but at least so many, and all of a whole one. */
  splitHead(head: Buffer, isWhole: boolean, least = 1): readonly CsvRecord[] {
    const ended = this.#push(head)
    return isWhole || ended.length < least ? [...ended, ...this.#split(true)] : ended
  }

  /** The records that end within these bytes. */
  #push(chunk: Buffer): readonly CsvRecord[] {
    this.#parts.push(chunk)
    this.#partsBytes += chunk.length
    const isWorthwhile = chunk.includes(LINE_FEED) || this.#partsBytes > this.#limitBytes
    return isWorthwhile && this.#partsBytes >= this.#wantedBytes ? this.#split(false) : []
  }

  #split(isLast: boolean): readonly CsvRecord[] {
    const [first, ...others] = this.#parts
    const bytes = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#parts)
    this.#records = []
    this.#wantedBytes = 0
    let at = 0
    for (let next: number | undefined = 0; next !== undefined; ) {
      at = next
      next = at < bytes.length ? this.#step(bytes, at, isLast) : undefined
    }
    const rest = bytes.subarray(at)
    this.#parts = rest.length > 0 ? [rest] : []
    this.#partsBytes = rest.length
    return this.#records
  }

  /** Reads a line, or the record that begins on it; undefined where more bytes are needed. */
  #step(bytes: Buffer, at: number, isLast: boolean): number | undefined {
    const lineFeed = bytes.indexOf(LINE_FEED, at)
    const isEnded = lineFeed >= 0
    const end = isEnded ? lineFeed : bytes.length
    if (!this.#isSkipping) {
      const line = bytes.subarray(at, bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end)
      if (line.length > this.#limitBytes) this.#add(line, this.#tooLong)
      else if (!isEnded && !isLast) return undefined
      else if (this.#delimiter !== undefined && line.includes(QUOTE)) {
        return this.#readQuoted(bytes, at, line, isLast)
      } else if (line.length > 0) this.#add(line, splitLine(line, this.#delimiter))
    }
    this.#isSkipping = !isEnded
    if (isEnded) this.#line++
    return end + 1
  }

  /** Adds a record of some lines, of which only the beginning is kept where it is too long. */
  #add(bytes: Buffer, read: CsvFields | string, lines = 1): void {
    const isCut = bytes.length > this.#limitBytes
    const source = isCut ? Buffer.from(bytes.subarray(0, CUT_BYTES)) : bytes
    const meaning = typeof read === 'string' ? { problem: read } : { fields: read }
    const line = this.#line
    this.#records.push({ line, lastLine: line + lines - 1, source, isCut, ...meaning })
  }

  #readQuoted(bytes: Buffer, at: number, line: Buffer, isLast: boolean): number | undefined {
    const window = bytes.subarray(at, at + this.#limitBytes + LINE_BREAK_BYTES)
    const isAll = at + window.length === bytes.length
    const read = readQuotedRecord(window, this.#delimiter ?? '', isLast && isAll)
    if (read === 'more bytes' && isAll) {
      this.#wantedBytes = 2 * window.length
      return undefined
    }
    let source = line
    let record: CsvFields | string
    if (read === 'more bytes') {
      record = `has a quote that is not closed within ${this.#limitBytes} bytes`
    } else if ('problem' in read) {
      record = read.brokenAt > line.length ? NEVER_CLOSED : read.problem
    } else if (read.end > this.#limitBytes) record = this.#tooLong
    else {
      source = window.subarray(0, read.end)
      record = read.fields
    }
    const lines = source.toString('latin1').split('\n').length
    this.#add(source, record, lines)
    this.#line += lines
    const lineFeed = bytes.indexOf(LINE_FEED, at + source.length)
    return lineFeed < 0 ? bytes.length : lineFeed + 1
  }
}
