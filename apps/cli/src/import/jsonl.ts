import { decodeJson, JsonSyntaxError, type JsonValue } from '@plant-store/contract'
import {
  inQuotes,
  LONGEST_RECORD_BYTES,
  type PlantOrProblems,
  type PlantRecord,
  parsePlant,
  shorten,
  sourceOf,
} from './plant-record.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Splits bytes at line feeds, keeping little more than `limitBytes` of a line. */
async function* readLines(
  chunks: AsyncIterable<Buffer>,
  limitBytes: number,
): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0

  function take(part: Buffer): void {
    const kept = part.subarray(0, limitBytes + 1 - length)
    length += kept.length
    if (kept.length > 0) parts.push(kept)
  }

  function end(): Buffer {
    const [first = Buffer.alloc(0)] = parts
    const bytes = parts.length > 1 ? Buffer.concat(parts) : first
    parts = []
    length = 0
    return bytes
  }

  for await (const chunk of chunks) {
    let start = 0
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, start)) {
      take(chunk.subarray(start, at))
      yield end()
      start = at + 1
    }
    take(chunk.subarray(start))
  }
  if (length > 0) yield end()
}

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member as it stands in the line, where a number may have more digits than its value. */
function show(value: JsonValue, field: string, line: Buffer): string | undefined {
  const member = isObject(value) && Object.hasOwn(value, field) ? value[field] : undefined
  if (member === undefined) return undefined
  if (typeof member === 'string') return inQuotes(member)
  if (typeof member === 'object' && member !== null) return Array.isArray(member) ? '[…]' : '{…}'
  if (typeof member !== 'number' && typeof member !== 'bigint') return String(member)
  const texts = line.toString().matchAll(new RegExp(`"${field}"\\s*:\\s*([-+.\\deE]+)`, 'g'))
  // Of a number that no double holds exactly, NaN is all that is known.
  const isIt = (text: string) =>
    Number.isNaN(member) ? !/^-?\d+$/.test(text) : Number(text) === Number(member)
  for (const [, text = ''] of texts) if (isIt(text)) return shorten(text)
  return undefined
}

function decode(line: Buffer): PlantOrProblems {
  try {
    const value = decodeJson(line)
    return parsePlant(value, (field) => ({ column: field, value: show(value, field, line) }))
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return { problems: [{ message: error.message }] }
  }
}

/** Reads a plant from each line (https://jsonlines.org) of UTF-8; empty lines are passed over. */
export async function* readJsonl(
  chunks: AsyncIterable<Buffer>,
  limitBytes = LONGEST_RECORD_BYTES,
): AsyncGenerator<PlantRecord> {
  let number = 0
  for await (const bytes of readLines(chunks, limitBytes + 1)) {
    number++
    const line = bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes
    if (line.length === 0) continue
    const isTooLong = line.length > limitBytes
    const meaning = isTooLong
      ? { problems: [{ message: `is longer than ${limitBytes} bytes` }] }
      : decode(line)
    yield { ...sourceOf(line, number, 1, limitBytes), ...meaning }
  }
}
