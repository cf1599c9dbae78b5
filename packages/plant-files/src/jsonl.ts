import {
  decodeJson,
  encodeJson,
  JsonSyntaxError,
  type JsonValue,
  type NewPlant,
} from '@plant-store/contract'
import { jsonMemberText } from './json-member-text.ts'
import { readLines } from './lines.ts'
import {
  inQuotes,
  type Limit,
  type PlantOrProblems,
  type PlantRecord,
  parsePlant,
  shorten,
  sourceOf,
  withProblems,
} from './plant-record.ts'
import { printable } from './printable.ts'
import { sourceOfReject } from './rejects-columns.ts'

/**
 * A plant on each line as a JSON object, its id a bare integer with every digit. Characters that a
 * terminal would obey are escaped, which does not change the JSON value.
 */
export function writeJsonl(plants: readonly NewPlant[]): string {
  return printable(plants.map((plant) => `${encodeJson(plant)}\n`).join(''))
}

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member as it stands in the line; a number may have more digits than its value. */
function show(
  value: { readonly [key: string]: JsonValue },
  field: string,
  bytes: Buffer,
): string | undefined {
  const member = Object.hasOwn(value, field) ? value[field] : undefined
  if (typeof member === 'string') return inQuotes(member)
  if (typeof member === 'object' && member !== null) return Array.isArray(member) ? '[…]' : '{…}'
  if (typeof member !== 'number' && typeof member !== 'bigint') {
    return member === undefined ? undefined : String(member)
  }
  const text = jsonMemberText(bytes.toString(), field)
  return text === undefined ? undefined : shorten(text)
}

function decodePlant(value: JsonValue, bytes: Buffer): PlantOrProblems {
  return parsePlant(value, (field) => ({
    column: field,
    value: isObject(value) ? show(value, field, bytes) : undefined,
  }))
}

interface Decoded {
  readonly bytes: Buffer
  readonly meaning: PlantOrProblems
}

function decode(bytes: Buffer, limit: Limit): Decoded {
  try {
    const value = decodeJson(bytes)
    const source = isObject(value) ? sourceOfReject(value) : undefined
    if (source === undefined) return { bytes, meaning: decodePlant(value, bytes) }
    return decode(source, limit)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    const message = error.message === 'is not valid UTF-8' ? limit.invalid : error.message
    return { bytes, meaning: withProblems([{ message }]) }
  }
}

const CARRIAGE_RETURN = 0x0d

/** Reads a plant from each line (https://jsonlines.org) of UTF-8; empty lines are passed over. */
export async function* readJsonl(
  chunks: AsyncIterable<Buffer>,
  limit: Limit,
): AsyncGenerator<PlantRecord> {
  for await (const { number, bytes } of readLines(chunks, limit.bytes + 1)) {
    const line = bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes
    if (line.length > limit.bytes) {
      const source = sourceOf(line, number, 1, limit)
      yield { ...source, ...withProblems([{ message: limit.tooLong }]) }
    } else if (line.length > 0) {
      const { bytes: source, meaning } = decode(line, limit)
      yield { ...sourceOf(source, number, 1, limit), ...meaning }
    }
  }
}
