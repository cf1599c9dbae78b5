import { encodeJson, type JsonValue } from '../src/json.ts'

/** A value in a document, and where it stands. */
export interface Part {
  readonly document: JsonValue
  /** A JSON pointer as a fragment (RFC 6901 §6). */
  readonly pointer: string
  /** Undefined where the document has nothing. */
  readonly value: JsonValue | undefined
}

type JsonObject = { readonly [key: string]: JsonValue }

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (Array.isArray(value)) return value[Number(key)]
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** @throws RangeError for a reference that leads out of the document. */
function follow(part: Part): Part {
  const reference = memberOf(part.value, '$ref')
  if (typeof reference !== 'string') return part
  const [start, ...keys] = reference.split('/')
  if (start !== '#') throw new RangeError(`${reference} leads out of the document`)
  const unescaped = keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  return unescaped.reduce(stepInto, wholeOf(part.document))
}

export function wholeOf(document: JsonValue): Part {
  return { document, pointer: '#', value: document }
}

/** The member of an object or array, references followed. */
export function stepInto(part: Part, key: string): Part {
  const escaped = key.replaceAll('~', '~0').replaceAll('/', '~1')
  const { document, pointer, value } = part
  return follow({ document, pointer: `${pointer}/${escaped}`, value: memberOf(value, key) })
}

/** The names of the members, none where it is no object. */
export function keysOf({ value }: Part): string[] {
  return isObject(value) ? Object.keys(value) : []
}

/** The names of the members of either, each once. */
export function keysOfBoth(was: Part, is: Part): string[] {
  return [...new Set([...keysOf(was), ...keysOf(is)])]
}

/** The items of an array, none where it is none. */
export function listOf({ value }: Part): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

export function isAbsent({ value }: Part): boolean {
  return value === undefined
}

/**
 * As JSON with every digit and all that it refers to, members in the order of their names; empty
 * where there is nothing.
 */
export function textOf(part: Part): string {
  const { value } = part
  if (value === undefined) return ''
  if (Array.isArray(value))
    return `[${value.map((_, index) => textOf(stepInto(part, `${index}`)))}]`
  if (!isObject(value)) return encodeJson(value)
  const names = Object.keys(value).toSorted()
  return `{${names.map((name) => `${JSON.stringify(name)}:${textOf(stepInto(part, name))}`)}}`
}
