import { isUtf8 } from 'node:buffer'
import { describeTooLong } from './problem.ts'

export interface CsvField {
  readonly text: string
  readonly isQuoted: boolean
}

/** One record and the line that it begins on; quoted line breaks let it span several. */
export type CsvRecord = { readonly line: number } & (
  | { readonly fields: readonly CsvField[]; readonly problem?: never }
  | { readonly problem: string; readonly fields?: never }
)

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const QUOTE = 0x22
const COMMA = 0x2c

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

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
    this.#content = Buffer.allocUnsafe(limitBytes)
  }

  /** The records that end within this chunk. */
  *push(chunk: Uint8Array): Generator<CsvRecord> {
    for (const byte of chunk) {
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
    const text = this.#content.toString('utf8', this.#fieldStart, this.#used)
    this.#fields.push({ text, isQuoted: this.#isQuoted })
    this.#fieldStart = this.#used
    this.#isQuoted = false
    this.#state = 'start of field'
  }

  *#endRecord(): Generator<CsvRecord> {
    const line = this.#firstLine
    const isBlank = this.#used === 0 && this.#fields.length === 0 && !this.#isQuoted
    if (this.#problem === undefined && !isUtf8(this.#content.subarray(0, this.#used))) {
      this.#problem = 'is not valid UTF-8'
    }
    if (this.#problem !== undefined) yield { line, problem: this.#problem }
    else if (!isBlank) {
      this.#endField()
      yield { line, fields: this.#fields }
    }
    this.#fields = []
    this.#problem = undefined
    this.#used = 0
    this.#fieldStart = 0
    this.#isQuoted = false
    this.#state = 'start of field'
    this.#firstLine = this.#line
  }
}
