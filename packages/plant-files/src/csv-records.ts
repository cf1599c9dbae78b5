import { isUtf8 } from 'node:buffer'
import { describeTooLong } from './record.ts'

export interface CsvField {
  readonly text: string
  readonly isQuoted: boolean
}

/** The line on which a quote opened that took in line breaks, and the last line of its record. */
export interface CsvSpan {
  readonly from: number
  readonly through: number
}

/** One record and the line that it begins on; `span` is there where it has several lines. */
export type CsvRecord = { readonly line: number; readonly span: CsvSpan | undefined } & (
  | { readonly fields: readonly CsvField[]; readonly problem?: never }
  | { readonly problem: string; readonly fields?: never }
)

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const QUOTE = 0x22
const COMMA = 0x2c

/** Far more than any file of plants has; each costs memory, and an empty one no byte of the limit. */
const MOST_FIELDS = 1_024

type State = 'start of field' | 'plain' | 'quoted' | 'after quote' | 'after CR' | 'broken'

/**
 * Splits bytes into records as RFC 4180 has it; lines may end with LF or CR LF, and empty ones are
 * passed over. A record that breaks the rules or the limit ends with its line, so that what follows
 * is read again: csv-parse 7 loses it, and says nothing of bytes that are not UTF-8.
 */
export class CsvSplitter {
  readonly #limitBytes: number
  /** The fields of the record at hand, without their quotes, one behind the other. */
  readonly #content: Buffer
  #used = 0
  #fieldStart = 0
  #isQuoted = false
  #fields: CsvField[] = []
  #problem: string | undefined
  #state: State = 'start of field'
  #line = 1
  #firstLine = 1
  #lastLine = 1
  #quoteLine = 1
  /** Where the first quote of the record at hand opened that has a line break in it. */
  #spanFrom: number | undefined

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
    this.#content = Buffer.allocUnsafe(limitBytes)
  }

  /** The records that end within this chunk. */
  *push(chunk: Uint8Array): Generator<CsvRecord> {
    for (const byte of chunk) {
      this.#lastLine = this.#line
      if (byte === LINE_FEED) this.#line++
      if (this.#state === 'quoted') this.#readInsideQuotes(byte)
      else if (byte !== LINE_FEED) this.#readOutsideQuotes(byte)
      else yield* this.#endRecord()
    }
  }

  /** The record that no line feed ended. */
  *end(): Generator<CsvRecord> {
    if (this.#state === 'quoted') this.#refuse('has a quote that is never closed')
    yield* this.#endRecord()
  }

  #readInsideQuotes(byte: number): void {
    if (byte === LINE_FEED) this.#spanFrom ??= this.#quoteLine
    if (byte === QUOTE) this.#state = 'after quote'
    else this.#keep(byte, 'quoted')
  }

  #readOutsideQuotes(byte: number): void {
    const state = this.#state
    if (state === 'broken') return
    if (state === 'after CR') this.#refuse('has a carriage return outside quotes')
    else if (byte === COMMA) this.#endField()
    else if (byte === CARRIAGE_RETURN) this.#state = 'after CR'
    else if (state === 'after quote' && byte === QUOTE) this.#keep(QUOTE, 'quoted')
    else if (state === 'after quote') this.#refuse('has text behind a closing quote')
    else if (byte !== QUOTE) this.#keep(byte, 'plain')
    else if (state === 'plain') this.#refuse('has a quote inside a field that is not quoted')
    else {
      this.#isQuoted = true
      this.#quoteLine = this.#line
      this.#state = 'quoted'
    }
  }

  #keep(byte: number, next: State): void {
    if (this.#used === this.#limitBytes) {
      this.#refuse(`${describeTooLong(this.#limitBytes)}, unless a quote in it is never closed`)
      return
    }
    this.#content[this.#used++] = byte
    this.#state = next
  }

  #refuse(problem: string): void {
    this.#problem = problem
    this.#state = 'broken'
  }

  #endField(): void {
    if (this.#fields.length === MOST_FIELDS) {
      this.#refuse(`has more than ${MOST_FIELDS} fields`)
      return
    }
    const text = this.#content.toString('utf8', this.#fieldStart, this.#used)
    this.#fields.push({ text, isQuoted: this.#isQuoted })
    this.#fieldStart = this.#used
    this.#isQuoted = false
    this.#state = 'start of field'
  }

  *#endRecord(): Generator<CsvRecord> {
    const line = this.#firstLine
    const from = this.#spanFrom
    const span = from === undefined ? undefined : { from, through: this.#lastLine }
    const isBlank = this.#used === 0 && this.#fields.length === 0 && !this.#isQuoted
    if (this.#problem === undefined && !isUtf8(this.#content.subarray(0, this.#used))) {
      this.#problem = 'is not valid UTF-8'
    }
    if (this.#problem === undefined && !isBlank) this.#endField()
    if (this.#problem !== undefined) yield { line, span, problem: this.#problem }
    else if (!isBlank) yield { line, span, fields: this.#fields }
    this.#beginRecord()
  }

  #beginRecord(): void {
    this.#fields = []
    this.#problem = undefined
    this.#used = 0
    this.#fieldStart = 0
    this.#isQuoted = false
    this.#state = 'start of field'
    this.#firstLine = this.#line
    this.#spanFrom = undefined
  }
}
