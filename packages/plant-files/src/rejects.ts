import { decodeJson, JsonSyntaxError } from '@plant-store/contract'
import { fieldNamed } from './columns.ts'
import type { Column, Delimiter, Dialect } from './dialect.ts'
import type { RecordSource } from './plant-record.ts'
import {
  quoteBytes,
  rejectColumns,
  SOURCE_MEMBER,
  sourceText,
  toRejectedRecord,
} from './rejects-columns.ts'

/** Why a record was not stored. */
export interface Rejection {
  /** A name without blanks, such as `id_taken`. */
  readonly code: string
  readonly message: string
}

/** Writes records that were rejected, in the format of the file that they come from. */
export interface RejectsWriter {
  /** What the file begins with; may be empty. */
  header(): Uint8Array
  /** A whole record with its line feed. */
  write(record: RecordSource, rejection: Rejection): Uint8Array
}

const LINE_FEED = Buffer.from('\n')
const ELLIPSIS = Buffer.from('…')

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}

/** A name that means the same column when the rejects are read without any flag. */
function nameOf({ name, field }: Column): string {
  if (field !== undefined) return field
  return quote(fieldNamed(name) === undefined ? name : `_${name}`)
}

/**
 * The columns of the rejects come first, where a record with too few or too many fields moves none of
 * them. Any reader of CSV finds one record for each reject.
 */
function createCsvRejects(
  delimiter: Delimiter,
  { columns, isRejects, hasByteOrderMark, encoding }: Dialect,
): RejectsWriter {
  const own = isRejects ? columns.slice(rejectColumns.length) : columns
  const isMarked = hasByteOrderMark || encoding !== 'utf-8'
  return {
    header() {
      const names = [...rejectColumns, ...own.map(nameOf)]
      return Buffer.from(`${isMarked ? '\ufeff' : ''}${names.join(delimiter)}\n`)
    },
    write({ line, source, isCut }, { code, message }) {
      const beginning = Buffer.from([line, code, quote(message), ''].join(delimiter))
      // One field, so that the beginning of a record is never taken for the record.
      const whole = isCut ? quoteBytes(Buffer.concat([source, ELLIPSIS])) : source
      return Buffer.concat([beginning, toRejectedRecord(whole, delimiter), LINE_FEED])
    },
  }
}

/** The members that rejects begin with, in an object that was rejected before. */
const REJECT_MEMBERS =
  /^\{\s*"_line"\s*:\s*\d+\s*,\s*"_code"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"_message"\s*:\s*"(?:[^"\\]|\\.)*"\s*(?:,|(?=\}))/

/** The text between the braces of an object; undefined where the source is none. */
function membersOf({ source, isCut }: RecordSource): string | undefined {
  if (isCut) return undefined
  try {
    const value = decodeJson(source)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
  const text = Buffer.from(source)
    .toString()
    .replace(/^\ufeff/, '')
    .trim()
  return text.replace(REJECT_MEMBERS, '{').slice(1, -1)
}

function writeJsonlReject(record: RecordSource, { code, message }: Rejection): Uint8Array {
  const beginning = JSON.stringify({ _line: record.line, _code: code, _message: message })
  const members = membersOf(record)
  const text = sourceText(record.source) + (record.isCut ? '…' : '')
  const rest = members ?? `${JSON.stringify(SOURCE_MEMBER)}:${JSON.stringify(text)}`
  return Buffer.from(`${beginning.slice(0, -1)}${rest.trim() === '' ? '' : ','}${rest}}\n`)
}

/**
 * Writes rejects so that they can be corrected and read again, without any flag: `_line`, `_code` and
 * `_message` come first, and readers pass them over; columns have the names of their fields. The data
 * is not changed. The text is UTF-8, with a byte order mark before CSV that had one or that was not
 * UTF-8. A line that is no object of JSON is the text `_source` of one, and a line that is no record
 * of CSV is one field behind `_source:`; both are read from there.
 */
export function createRejectsWriter(dialect: Dialect): RejectsWriter {
  if (dialect.delimiter !== undefined) return createCsvRejects(dialect.delimiter, dialect)
  return { header: () => new Uint8Array(), write: writeJsonlReject }
}
