import fc, { type Arbitrary } from 'fast-check'

/** Numbers that are easily taken for others. */
const trickyNumbers = [
  ...['-0', '0.0', '-0.0e5', '0e1000000000', '7.0', '70e-1', '1E3', '1e+3', '0.1e1', '1.5', '5e-1'],
  ...['1e400', '-1e400', '1e1000000000', '1e-400', '1e-1000000000', '3.0000000000000001'],
  ...['9007199254740993', '9007199254740993.0', '-9007199254740993', '9007199254740992.5'],
  ...[
    '9223372036854775807',
    '9223372036854775808',
    '9223372036854775807.5',
    '9.223372036854775807e18',
  ],
  ...[
    '-9223372036854775808',
    '-9223372036854775809',
    '-9223372036854775808.5',
    '18446744073709551616',
  ],
]

const digits = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength })

/** Any number that RFC 8259 §6 can spell; few are ids. */
export const anyNumber: Arbitrary<string> = fc.oneof(
  fc.constantFrom(...trickyNumbers),
  fc
    .record({
      sign: fc.constantFrom('', '-'),
      whole: digits(22).map((text) => text.replace(/^0+(?=.)/, '')),
      fraction: fc.option(digits(22), { nil: '' }),
      power: fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-'), digits(3)), { nil: [] }),
    })
    .map(({ sign, whole, fraction, power }) =>
      [sign, whole, fraction === '' ? '' : `.${fraction}`, ...power].join(''),
    ),
)

/** Spells an integer with its point moved: 1234 as 12.34e2, or as 1234000E-3. */
function spell(value: bigint, places: number, mark: string): string {
  const sign = value < 0n ? '-' : ''
  const plain = String(value < 0n ? -value : value)
  if (places <= 0)
    return `${sign}${plain === '0' ? plain : plain + '0'.repeat(-places)}${mark}${places}`
  const padded = plain.padStart(places + 1, '0')
  return `${sign}${padded.slice(0, -places)}.${padded.slice(-places)}${mark}${places}`
}

/** An integer in one of the many ways to write it. */
export function spelled(value: Arbitrary<bigint>): Arbitrary<string> {
  const places = fc.integer({ min: -10, max: 25 })
  return fc.oneof(
    { weight: 4, arbitrary: value.map(String) },
    fc
      .tuple(value, fc.constantFrom('.0', '.000', 'e0', 'E+00', '.0e-0'))
      .map((parts) => parts.join('')),
    fc.tuple(value, places, fc.constantFrom('e', 'E')).map((parts) => spell(...parts)),
  )
}

/** Integers within bounds, many of them at the bounds and at those of a double, and some just beyond. */
export function integersAround(min: bigint, max: bigint): Arbitrary<bigint> {
  const edges = [min, max, 0n, 2n ** 31n, 2n ** 53n, -(2n ** 53n)]
  const near = fc
    .tuple(fc.constantFrom(...edges), fc.bigInt({ min: -2n, max: 2n }))
    .map(([edge, distance]) => edge + distance)
  return fc.oneof(fc.bigInt({ min, max }), near)
}
