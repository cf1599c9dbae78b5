import { INT64_MAX, INT64_MIN } from './plant.ts'

/** A JSON value whose integers are exact: a number where it is safe, else a bigint. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | JsonValue[]
  | { [key: string]: JsonValue }

/** Arrays and objects may stand this deep inside each other; RFC 8259 §9 allows such a limit. */
export const MAX_JSON_DEPTH = 64

/** So many values may stand in a text, each member and each item one; RFC 8259 §9 allows it, too. */
export const MAX_JSON_VALUES = 1_000

/** The bytes or the text are not JSON. The message says why, without quoting the input. */
export class JsonSyntaxError extends Error {
  override name = 'JsonSyntaxError'
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new JsonSyntaxError('is not valid UTF-8', { cause })
  }
}

/** A valid text beyond one of the limits needs this many characters for its brackets alone. */
const SHORTEST_EXCESS = 2 * (MAX_JSON_DEPTH + 1)

/** Looks at what JSON.parse would build, at a small part of what that would cost. */
function refuseExcess(text: string): void {
  let depth = 0
  let values = 1
  let insideString = false
  let isFirst = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (insideString) {
      if (character === '\\') index++
      else if (character === '"') insideString = false
      continue
    }
    if (character === ' ' || character === '\n' || character === '\r' || character === '\t')
      continue
    const isEnd = character === ']' || character === '}'
    if (character === ',' || (isFirst && !isEnd)) values++
    isFirst = character === '[' || character === '{'
    insideString = character === '"'
    if (isFirst) depth++
    else if (isEnd) depth--
    if (depth > MAX_JSON_DEPTH) {
      throw new JsonSyntaxError(`is nested deeper than ${MAX_JSON_DEPTH} levels`)
    }
    if (values > MAX_JSON_VALUES) {
      throw new JsonSyntaxError(`holds more than ${MAX_JSON_VALUES} values`)
    }
  }
}

/** Where no number has a fraction, an exponent or 16 digits, JSON.parse alone is exact. */
const MAY_HOLD_INEXACT_NUMBER = /\d(?:[.eE]|\d{15})/

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** An int64 has at most 19 digits; a longer one is never expanded. */
const MAX_INT64_DIGITS = 19

function withoutTrailingZeros(digits: string): string {
  // A loop, because the pattern 0+$ takes quadratic time on zeros that do not end the text.
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}

/**
 * The value of a JSON number by its text, which JSON.parse has accepted, whatever the spelling:
 * an integer within int64 exactly, as a number where it is safe and else as a bigint;
 * an integer beyond int64 as its nearest double, which is never safe;
 * a fraction as its nearest double, or NaN where that double would pass for an integer.
 */
function decodeNumber(source: string): number | bigint {
  const [, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? []
  const nearest = Number(source)
  const significand = (whole + fraction).replace(/^0+/, '')
  const digits = withoutTrailingZeros(significand)
  if (digits === '') return nearest
  const zeros = Number(exponent) - fraction.length + significand.length - digits.length
  if (zeros < 0) return Number.isInteger(nearest) ? Number.NaN : nearest
  if (Number.isSafeInteger(nearest)) return nearest
  if (digits.length + zeros > MAX_INT64_DIGITS) return nearest
  return decodeInteger(`${sign}${digits}${'0'.repeat(zeros)}`)
}

/** The value of decimal digits with or without a minus: a number where it is safe, a bigint within int64. */
function decodeInteger(source: string): number | bigint {
  const nearest = Number(source)
  if (Number.isSafeInteger(nearest)) return nearest
  const exact = BigInt(source)
  return exact >= INT64_MIN && exact <= INT64_MAX ? exact : nearest
}

/** A reviver of JSON.parse; `source` is there from Node 22 on (ECMA-262, JSON.parse source text access). */
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

const parse: (text: string, reviver?: Reviver) => JsonValue = JSON.parse

/** The strings of a JSON text, with the colon behind a key, and its numbers. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|-?\d[\d.eE+-]*/g

/** For runtimes without source text: parses valid JSON with each number in a string, marked apart. */
function parseMarked(text: string): JsonValue {
  const marked = text.replace(STRING_OR_NUMBER, (token, colon?: string) => {
    if (colon !== undefined) return token
    return token.startsWith('"') ? `"s${token.slice(1)}` : `"n${token}"`
  })
  return parse(marked, (_key, value) => {
    if (typeof value !== 'string') return value
    return value.startsWith('n') ? decodeNumber(value.slice(1)) : value.slice(1)
  })
}

function parseExactly(text: string): JsonValue {
  let lacksSource = false
  const value = parse(text, (_key, value, context) => {
    if (typeof value !== 'number') return value
    if (context?.source !== undefined) return decodeNumber(context.source)
    lacksSource = true
    return value
  })
  return lacksSource ? parseMarked(text) : value
}

/**
 * A plant as most callers write it: these members in this order, blanks at most as Python puts them,
 * and no escape in a string.
 */
const USUAL_PLANT =
  /^\{"id": ?(-?(?:0|[1-9]\d{0,18})), ?"name": ?"([^"\\\0-\x1f]*)"(?:, ?"tag": ?"([^"\\\0-\x1f]*)")?\}$/

/** The value of such a plant, for less than half of what JSON.parse takes; undefined for any other text. */
function parseUsualPlant(text: string): JsonValue | undefined {
  const [, id, name, tag] = USUAL_PLANT.exec(text) ?? []
  if (id === undefined || name === undefined) return undefined
  const plant = { id: decodeInteger(id), name }
  return tag === undefined ? plant : { ...plant, tag }
}

/**
 * Reads JSON from UTF-8 bytes, keeping every digit of every integer within int64.
 * A byte order mark is ignored (RFC 8259 §8.1); a repeated member counts by its last value.
 * @throws JsonSyntaxError when the bytes are empty, not UTF-8, not JSON, or beyond a limit.
 */
export function decodeJson(bytes: Uint8Array): JsonValue {
  const text = decodeUtf8(bytes)
  if (text === '') throw new JsonSyntaxError('is empty')
  const plant = parseUsualPlant(text)
  if (plant !== undefined) return plant
  if (text.length >= SHORTEST_EXCESS) refuseExcess(text)
  try {
    return MAY_HOLD_INEXACT_NUMBER.test(text) ? parseExactly(text) : parse(text)
  } catch (cause) {
    throw new JsonSyntaxError('is not valid JSON', { cause })
  }
}

/** A value that JSON can hold; a member that is undefined is left out. */
export type JsonWritable =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonWritable[]
  | { readonly [key: string]: JsonWritable | undefined }

/** Whether JSON.stringify writes a value to the digit; it throws for a bigint and writes NaN as null. */
function isPlain(value: JsonWritable | undefined): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint'
  for (const key in value) {
    if (!isPlain((value as Record<string, JsonWritable | undefined>)[key])) return false
  }
  return true
}

/**
 * Writes a value as JSON text, a bigint as a bare integer with all its digits.
 * Needs no JSON.rawJSON, which Node 20 does not have.
 * @throws TypeError for NaN and Infinity, which JSON cannot hold.
 */
export function encodeJson(value: JsonWritable): string {
  return isPlain(value) ? JSON.stringify(value) : encodeExactly(value)
}

function encodeExactly(value: JsonWritable): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TypeError(`JSON cannot hold ${value}`)
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(encodeExactly).join(',')}]`
  let members = ''
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue
    members += `${members && ','}${JSON.stringify(key)}:${encodeExactly(member)}`
  }
  return `{${members}}`
}
