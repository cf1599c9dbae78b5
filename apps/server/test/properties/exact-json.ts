import { readInteger } from './exact-number.ts'

/** What JSON.parse gives a reviver beside the value, in Node.js 22 and later. */
type Reviver = (this: object, key: string, value: unknown, context?: { source?: string }) => unknown
const parse: (text: string, reviver: Reviver) => unknown = JSON.parse

const integers = new WeakMap<object, Map<string, bigint>>()

/**
 * Parses JSON. In the place of each number stands one where a validator asks for its type alone: a
 * double that is whole where the number is, and finite. Integers are kept for `exactIntegerOf`.
 * @throws SyntaxError as JSON.parse does.
 */
export function parseExactly(text: string): unknown {
  return parse(text, function (key, value, context) {
    if (typeof value !== 'number' || context?.source === undefined) return value
    const integer = readInteger(context.source)
    if (integer === undefined) return 0.5
    const known = integers.get(this) ?? new Map<string, bigint>()
    integers.set(this, known.set(key, integer))
    return Number.isSafeInteger(value) ? value : 2 ** 53
  })
}

/** The integer that a member or an item was written as, in what `parseExactly` gave. */
export function exactIntegerOf(holder: object, key: string | number): bigint | undefined {
  return integers.get(holder)?.get(String(key))
}
