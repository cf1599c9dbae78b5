import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeJson, encodeJson, JsonSyntaxError, type JsonValue, NewPlant } from '../src/index.ts'

/** What a JSON number literal means, worked out with whole numbers alone. */
type Decimal = { readonly integer: bigint } | 'fraction' | 'huge'

/** Far beyond what the literals of the tests need to be worked out exactly. */
const MAX_WORKED_OUT = 2_000n

/**
 * The exact value of a JSON number literal: an integer, no integer, or an integer of thousands of
 * digits. It goes through the literal character by character and divides bigints.
 */
function readDecimal(literal: string): Decimal {
  const [mantissa = '', power = '0'] = literal.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const units = BigInt(whole.replace('-', '') + fraction)
  if (units === 0n) return { integer: 0n }
  const exponent = BigInt(power.replace('+', '')) - BigInt(fraction.length)
  if (exponent > MAX_WORKED_OUT) return 'huge'
  // The literals have fewer digits than this, so something is left behind the point.
  if (exponent < -MAX_WORKED_OUT) return 'fraction'
  const scale = 10n ** (exponent < 0n ? -exponent : exponent)
  if (exponent < 0n && units % scale !== 0n) return 'fraction'
  const magnitude = exponent < 0n ? units / scale : units * scale
  return { integer: whole.startsWith('-') ? -magnitude : magnitude }
}

const RUNS = { numRuns: 10_000 }

/** Checks 10,000 values. */
function holds<Value>(values: fc.Arbitrary<Value>, check: (value: Value) => void): void {
  fc.assert(fc.property(values, check), RUNS)
}

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
const MAX_SAFE = 2n ** 53n - 1n
const isSafe = (value: bigint) => value >= -MAX_SAFE && value <= MAX_SAFE

const digits = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength })

/** Every spelling that RFC 8259 §6 allows, most of them no integers. */
const anyLiteral = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(
      fc.constant('0'),
      digits(25).map((text) => text.replace(/^0+(?=.)/, '')),
    ),
    fraction: fc.option(digits(25), { nil: undefined }),
    exponent: fc.option(
      fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), digits(3)),
      { nil: undefined },
    ),
  })
  .map(({ sign, whole, fraction, exponent }) =>
    [sign, whole, fraction === undefined ? '' : `.${fraction}`, ...(exponent ?? [])].join(''),
  )

const edges = [0n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 62n, 2n ** 63n, 2n ** 64n, 10n ** 18n]

const integer = fc.oneof(
  fc.bigInt(INT64),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc
    .tuple(fc.constantFrom(...edges), fc.bigInt({ min: -5n, max: 5n }), fc.constantFrom(1n, -1n))
    .map(([edge, distance, sign]) => sign * (edge + distance)),
)

/** An integer with its point moved, zeros added, and sometimes a speck that makes it a fraction. */
const respelledInteger = fc
  .record({
    value: integer,
    zeros: fc.nat({ max: 30 }),
    shift: fc.nat({ max: 50 }),
    mark: fc.constantFrom('e', 'E'),
    speck: fc.constantFrom('', '', '', '1', '5', '9'),
  })
  .map(({ value, zeros, shift, mark, speck }) => {
    const sign = value < 0n ? '-' : ''
    const all = `${sign === '' ? value : -value}${'0'.repeat(zeros)}${speck}`.padStart(
      shift + 1,
      '0',
    )
    const point = all.length - shift
    const whole = all.slice(0, point).replace(/^0+(?=.)/, '')
    const exponent = shift - zeros - speck.length
    return `${sign}${whole}${shift === 0 ? '' : `.${all.slice(point)}`}${mark}${exponent}`
  })

const plainInteger = fc
  .tuple(integer, fc.constantFrom('', '.0', '.000', 'e0', 'E+00', '.0e-0'))
  .map(([value, ending]) => `${value}${ending}`)

const hugeExponent = fc
  .tuple(integer, fc.constantFrom('', '.0', '.25'), fc.constantFrom('e', 'E+', 'e-'), digits(20))
  .map((parts) => parts.join(''))

const literal = fc.oneof(anyLiteral, respelledInteger, plainInteger, hugeExponent)

function expectDecimal(decoded: unknown, source: string): void {
  const decimal = readDecimal(source)
  const nearest = Number(source)
  if (decimal === 'fraction') {
    expect(decoded).toBe(Number.isInteger(nearest) ? Number.NaN : nearest)
  } else if (decimal === 'huge' || decimal.integer < INT64.min || decimal.integer > INT64.max) {
    expect(decoded).toBe(nearest)
    expect(Number.isSafeInteger(nearest)).toBe(false)
  } else {
    expect(BigInt(decoded as number | bigint)).toBe(decimal.integer)
    expect(typeof decoded).toBe(isSafe(decimal.integer) ? 'number' : 'bigint')
  }
}

describe('for 10,000 number literals', () => {
  test('the decoder agrees with exact decimal arithmetic', () =>
    holds(literal, (source) => expectDecimal(decodeJson(Buffer.from(source)), source)))

  test('an id is taken exactly where the literal is an integer within int64', () =>
    holds(literal, (source) => {
      const decimal = readDecimal(source)
      const value = typeof decimal === 'string' ? undefined : decimal.integer
      const isInt64 = value !== undefined && value >= INT64.min && value <= INT64.max
      const parsed = NewPlant.safeParse(decodeJson(Buffer.from(`{"id":${source},"name":""}`)))
      expect(parsed.data?.id).toBe(isInt64 ? value : undefined)
    }))

  test('at least a fifth are ids, a fifth are not, and a tenth need a bigint', () => {
    const decimals = fc.sample(literal, RUNS).map((source) => decodeJson(Buffer.from(source)))
    const ids = decimals.filter((id) => NewPlant.safeParse({ id, name: '' }).success)
    expect(ids.length).toBeGreaterThan(2_000)
    expect(decimals.length - ids.length).toBeGreaterThan(2_000)
    expect(ids.filter((id) => typeof id === 'bigint').length).toBeGreaterThan(1_000)
  })
})

const exactInteger = fc.bigInt(INT64).map((value) => (isSafe(value) ? Number(value) : value))

/** Values as the decoder gives them: -0 has no JSON spelling of its own in JavaScript. */
const scalar = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, false, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n),
  exactInteger,
  fc.integer(),
  fc
    .double({ noDefaultInfinity: true, noNaN: true })
    .filter((value) => !Number.isInteger(value) || Math.abs(value) > 2 ** 63),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
)

const { value: jsonValue } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.string({ unit: 'binary' }), tie('value'), {
      maxKeys: 5,
      noNullPrototype: true,
    }),
  ),
}))

test('for 10,000 values, bigints among them, decoding what was encoded gives the same value', () =>
  holds(jsonValue, (value) => {
    const decoded = decodeJson(Buffer.from(encodeJson(value)))
    expect(isDeepStrictEqual(decoded, value)).toBe(true)
  }))

const tokens = fc.array(
  fc.constantFrom(...'{}[]":,\\-+.eE01 \n', '"a"', '1.5', '1e9', 'null', 'true', '\\u0000', 'é'),
  { maxLength: 20 },
)

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  tokens.map((parts) => new Uint8Array(Buffer.from(parts.join('')))),
  fc.tuple(jsonValue, fc.nat(), fc.nat({ max: 255 })).map(([value, position, byte]) => {
    const mutated = new Uint8Array(Buffer.from(encodeJson(value)))
    mutated[position % mutated.length] = byte
    return mutated
  }),
)

function isJson(input: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(input))
    return true
  } catch {
    return false
  }
}

test('for 10,000 byte sequences it gives a value where they are JSON and else throws a JsonSyntaxError', () =>
  holds(bytes, (input) => {
    if (isJson(input)) expect(decodeJson(input)).not.toBeUndefined()
    else expect(() => decodeJson(input)).toThrow(JsonSyntaxError)
  }))

/** Plants as most callers write them, and texts that nearly are. */
const usualPlant = fc
  .record({
    id: fc.oneof(
      integer.map(String),
      fc.constantFrom('-0', '00', '-', '1.0', '1e3', '9007199254740993.0', '"7"', 'null'),
    ),
    strings: fc.array(
      fc.string({
        unit: fc.constantFrom('a', 'é', '🌿', '"', '\\', '\n', '\u007f', '\u2028', ' '),
      }),
      { minLength: 2, maxLength: 2 },
    ),
    blank: fc.constantFrom('', ' ', '  ', '\n'),
    ending: fc.constantFrom('}', '}', '}', '', '} ', '}}', ',"tag":null}', ',"id":7}', ',"x":1.5}'),
    hasTag: fc.boolean(),
  })
  .map(({ id, strings: [name, tag], blank, ending, hasTag }) => {
    const member = hasTag ? `,${blank}"tag":${blank}"${tag}"` : ''
    return `{"id":${blank}${id},${blank}"name":${blank}"${name}"${member}${ending}`
  })

function outcomeOf(text: string): unknown {
  try {
    return decodeJson(Buffer.from(text))
  } catch (error) {
    return (error as Error).message
  }
}

test('for 10,000 texts like plants the short way to a usual plant gives what the long way gives', () => {
  let plants = 0
  holds(usualPlant, (text) => {
    const outcome = outcomeOf(text)
    if (typeof outcome === 'object') plants++
    // A blank in front is enough to leave the short way.
    expect(isDeepStrictEqual(outcome, outcomeOf(` ${text}`))).toBe(true)
  })
  expect(plants).toBeGreaterThan(1_000)
})
