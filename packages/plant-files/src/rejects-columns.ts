import { isUtf8 } from 'node:buffer'
import type { JsonValue } from '@plant-store/contract'
import { readWholeRecord } from './csv-record.ts'

/** What the rejects have before the columns, or the members, of their file. */
export const rejectColumns = ['_line', '_code', '_message'] as const

/** The member that holds a line which is no object of JSON. */
export const SOURCE_MEMBER = '_source'

/** What the one field begins with that holds a line which is no record of CSV. */
const SOURCE_FIELD = `${SOURCE_MEMBER}:`

/** A field in quotes, whose bytes may be no UTF-8. */
export function quoteBytes(bytes: Uint8Array): Buffer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return Buffer.from(`"${text.replaceAll('"', '""')}"`, 'latin1')
}

/**
 * A record as it is written to the rejects. Where it is broken, it would take in the records behind
 * it: then it is one field, which any reader of CSV takes for one.
 */
export function toRejectedRecord(source: Uint8Array, delimiter: string): Uint8Array {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength)
  const fields = readWholeRecord(bytes, delimiter)
  // A field that begins like this by itself must not be taken for another record.
  if (typeof fields !== 'string' && !fields[0]?.startsWith(SOURCE_FIELD)) return bytes
  return quoteBytes(Buffer.concat([Buffer.from(SOURCE_FIELD), bytes]))
}

/** The record that was broken, where toRejectedRecord has made one field of it. */
export function fromRejectedRecord(record: Uint8Array, delimiter: string): Buffer | undefined {
  const text = Buffer.from(record.buffer, record.byteOffset, record.byteLength).toString('latin1')
  const begin = text.startsWith('"') ? 1 : 0
  if (!text.startsWith(SOURCE_FIELD, begin)) return undefined
  // Spreadsheets add empty fields, and leave quotes out that are not needed.
  const others = `(?:${delimiter}(?:"")?)*$`
  const field = begin === 1 ? `([^"]*(?:""[^"]*)*)"${others}` : `([^"${delimiter}]*)${others}`
  const [, source] = new RegExp(`^${field}`).exec(text.slice(begin + SOURCE_FIELD.length)) ?? []
  return source === undefined ? undefined : Buffer.from(source.replaceAll('""', '"'), 'latin1')
}

/** Whether the names of columns are those of a file of rejects. */
export function isRejectsHeader(names: readonly string[]): boolean {
  return rejectColumns.every((name, index) => names[index] === name)
}

/** Bytes that are no character of UTF-8 are written as these surrogates, as PEP 383 does. */
const ESCAPED_BYTE = /([\udc80-\udcff])/u

/** Bytes as text that means the same bytes again, also where they are not UTF-8. */
export function sourceText(source: Uint8Array): string {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength)
  if (isUtf8(bytes)) return bytes.toString()
  return bytes
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(0xdc00 + byte.charCodeAt(0)))
}

/** The bytes of a rejected line that was no object, where a value holds them. */
export function sourceOfReject(value: { readonly [key: string]: JsonValue }): Buffer | undefined {
  const { _line, [SOURCE_MEMBER]: source } = value
  if (_line === undefined || typeof source !== 'string') return undefined
  const parts = source.split(ESCAPED_BYTE)
  return Buffer.concat(
    parts.map((part, index) =>
      index % 2 === 1 ? Buffer.of(part.charCodeAt(0) - 0xdc00) : Buffer.from(part),
    ),
  )
}

const QUOTE = 0x22

/** What follows the first columns of a record of CSV. */
export function withoutColumns(source: Uint8Array, delimiter: string, count: number): Uint8Array {
  const delimiterByte = delimiter.charCodeAt(0)
  let isInQuotes = false
  let left = count
  for (let at = 0; at < source.length; at++) {
    if (source[at] === QUOTE) isInQuotes = !isInQuotes
    else if (source[at] === delimiterByte && !isInQuotes && --left === 0) {
      return source.subarray(at + 1)
    }
  }
  return source
}
