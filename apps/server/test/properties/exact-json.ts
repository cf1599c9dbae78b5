import { type ExactNumber, isInteger, readNumber } from './exact-number.ts'

/** What JSON.parse gives a reviver beside the value, in Node.js 22 and later. */
type Reviver = (this: object, key: string, value: unknown, context?: { source?: string }) => unknown
const parse: (text: string, reviver: Reviver) => unknown = JSON.parse

const numbers = new WeakMap<object, Map<string, ExactNumber>>()

/**
 * Stands for a number where a validator asks for its type alone: a double that is whole where the
 * number is, and finite. The number itself is kept for `exactNumberOf`.
 */
function standIn(number: ExactNumber, nearest: number): number {
  if (!isInteger(number)) return 0.5
  return Number.isSafeInteger(nearest) ? nearest : 2 ** 53
}

/** Parses JSON and keeps each number of it as it is written. @throws SyntaxError as JSON.parse does. */
export function parseExactly(text: string): unknown {
  return parse(text, function (key, value, context) {
    if (typeof value !== 'number' || context?.source === undefined) return value
    const number = readNumber(context.source)
    const known = numbers.get(this) ?? new Map<string, ExactNumber>()
    numbers.set(this, known.set(key, number))
    return standIn(number, value)
  })
}

/** The number that a member or an item was written as, in what `parseExactly` gave. */
export function exactNumberOf(holder: object, key: string | number): ExactNumber {
  const number = numbers.get(holder)?.get(String(key))
  if (number === undefined) throw new Error(`${key} was not read as a number`)
  return number
}
