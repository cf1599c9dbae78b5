/** Beyond all bounds of a document, however many digits those have. */
const MOST_ZEROS = 400n

const integers = new WeakMap<object, Map<string, bigint>>()

/**
 * The integer that a number as RFC 8259 §6 spells it is, read from its characters and never as a
 * double; undefined for one with a fraction. One with more zeros than any bound has keeps as many.
 */
function readInteger(source: string): bigint | undefined {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const significant = (whole + fraction).replace(/0+$/, '')
  if (/^-?$/.test(significant)) return 0n
  const dropped = whole.length + fraction.length - significant.length
  const zeros = BigInt(exponent) + BigInt(dropped - fraction.length)
  if (zeros < 0n) return undefined
  return BigInt(significant) * 10n ** (zeros < MOST_ZEROS ? zeros : MOST_ZEROS)
}

/**
 * Parses JSON. In the place of each number stands one where a validator asks for its type alone: a
 * double that is whole where the number is, and finite. Integers are kept for `exactIntegerOf`.
 * @throws SyntaxError as JSON.parse does.
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, function (this: object, key, value, context?: { source?: string }) {
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
