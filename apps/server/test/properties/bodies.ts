import type { NewPlant } from '@plant-store/contract'
import fc, { type Arbitrary } from 'fast-check'

/** Numbers that are easily taken for others. */
const trickyNumbers = (
  '-0 0.0 -0.0e5 0e1000000000 7.0 70e-1 1E3 1e+3 0.1e1 1.5 5e-1 1e400 -1e400 1e1000000000 1e-400 ' +
  '1e-1000000000 3.0000000000000001 9007199254740993 9007199254740993.0 -9007199254740993 ' +
  '9007199254740992.5 9223372036854775807 9223372036854775808 9223372036854775807.5 ' +
  '9.223372036854775807e18 -9223372036854775808 -9223372036854775809 -9223372036854775808.5 ' +
  '18446744073709551616'
).split(' ')

const digits = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength })

/** Any number that RFC 8259 §6 can spell; few are ids. */
const anyNumber = fc.oneof(
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

const [MIN, MAX] = [-(2n ** 63n), 2n ** 63n - 1n]

/** Many of them at the bounds and at those of a double, and some just beyond. */
const integer = fc.oneof(
  fc.bigInt({ min: MIN, max: MAX }),
  fc
    .tuple(fc.constantFrom(MIN, MAX, 0n, 2n ** 53n, -(2n ** 53n)), fc.bigInt({ min: -2n, max: 2n }))
    .map(([edge, distance]) => edge + distance),
)

/** An integer in one of the many ways to write it. */
const spelledInteger = fc.oneof(
  { weight: 4, arbitrary: integer.map(String) },
  fc
    .tuple(integer, fc.constantFrom('.0', '.000', 'e0', 'E+00', '.0e-0'))
    .map((parts) => parts.join('')),
  fc
    .tuple(integer, fc.integer({ min: -10, max: 25 }), fc.constantFrom('e', 'E'))
    .map((parts) => spell(...parts)),
)

const codeUnit = fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit))
const suspicious = [...'a "\\/\n\t\u0000\u001f\u007fé\u2028\ufeff\ufffd', '🌿', '\ud83c', '\udf3f']

/** Any text that a JSON string can hold: lone surrogates and U+0000 as well. */
const anyText = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme' }) },
  fc.string({ unit: 'binary' }),
  fc.string({ unit: codeUnit, maxLength: 5 }),
  fc.string({ unit: fc.constantFrom(...suspicious), maxLength: 5 }),
)

function escapeAll(text: string): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
  const escaped = units.map((unit, index) => {
    const hex = unit.toString(16).padStart(4, '0')
    return `\\u${index % 2 === 0 ? hex : hex.toUpperCase()}`
  })
  return `"${escaped.join('')}"`
}

/** Text as a JSON string, its characters as they are or escaped. */
const quoted = (text: Arbitrary<string>) =>
  fc.oneof(
    { weight: 4, arbitrary: text.map((raw) => JSON.stringify(raw)) },
    { weight: 1, arbitrary: text.map(escapeAll) },
  )

/** Nested about as deep as is taken. */
const nested = fc
  .tuple(fc.integer({ min: 62, max: 66 }), fc.boolean())
  .map(([levels, isArray]) =>
    isArray
      ? `${'['.repeat(levels)}${']'.repeat(levels)}`
      : `${'{"a":'.repeat(levels)}"]}"${'}'.repeat(levels)}`,
  )

const otherValue = fc.constantFrom('null', 'true', 'false', '[]', '{}', '""', '"7"', '0', '7.5')

const anyJson = fc.oneof(otherValue, anyNumber, quoted(anyText), fc.json({ maxDepth: 3 }), nested)

/** JSON texts for each field, nearly all of them allowed. */
const fields: Readonly<Record<keyof NewPlant, Arbitrary<string>>> = {
  id: fc.oneof({ weight: 5, arbitrary: spelledInteger }, { weight: 1, arbitrary: anyNumber }),
  name: quoted(anyText),
  tag: quoted(anyText),
}

/** A member as JSON text; an absent one is none. */
type Member = readonly [key: string, value: string]

const ownMembers = Object.entries(fields).map(([name, value]) => {
  const key = quoted(fc.constant(name))
  return fc.oneof(
    { weight: 16, arbitrary: fc.tuple(key, value) },
    { weight: 2, arbitrary: fc.tuple(key, otherValue) },
    { weight: 1, arbitrary: fc.tuple(key, anyJson) },
    { weight: name === 'tag' ? 8 : 1, arbitrary: fc.constant(undefined) },
  )
})
const otherKey = quoted(
  fc.oneof(fc.constantFrom(...Object.keys(fields), '__proto__', 'toString', 'ID', ''), anyText),
)
const otherMembers = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Member[]>([]) },
  { weight: 1, arbitrary: fc.array(fc.tuple(otherKey, anyJson), { maxLength: 2 }) },
)

const space = fc.constantFrom('', '', '', ' ', '\n\t', ' \r\n')

const object = fc
  .tuple(fc.tuple(...ownMembers), otherMembers, space, fc.boolean())
  .map(([own, others, blank, isTurned]) => {
    const members = [...own, ...others].filter((one) => one !== undefined)
    const texts = (isTurned ? members.toReversed() : members).map((one) =>
      one.join(`${blank}:${blank}`),
    )
    return `${blank}{${blank}${texts.join(`${blank},${blank}`)}${blank}}${blank}`
  })

const token = fc.constantFrom(...'{}[]":,\\-+.eE01 \n', '"id"', '1.5', 'null', '\\u0000', 'é')

/** A change of a text's bytes at a place, which is taken modulo its length. */
const edit = fc.record({
  at: fc.nat(),
  removed: fc.constantFrom(0, 1, 1, 2, 1000),
  inserted: fc.oneof(
    fc.uint8Array({ maxLength: 2 }),
    token.map((text) => Buffer.from(text)),
  ),
})

const objectBytes = object.map((text) => Buffer.from(text))
const editedBytes = fc
  .tuple(objectBytes, fc.array(edit, { minLength: 1, maxLength: 3 }))
  .map(([bytes, edits]) =>
    edits.reduce((changed, { at, removed, inserted }) => {
      const place = at % (changed.length + 1)
      return Buffer.concat([
        changed.subarray(0, place),
        inserted,
        changed.subarray(place + removed),
      ])
    }, bytes),
  )

/** Bodies for `POST /plants`. */
export const anyBody: Arbitrary<Buffer> = fc.oneof(
  { weight: 12, arbitrary: objectBytes },
  {
    weight: 1,
    arbitrary: objectBytes.map((bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes])),
  },
  { weight: 5, arbitrary: editedBytes },
  { weight: 1, arbitrary: anyJson.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.array(token).map((tokens) => Buffer.from(tokens.join(''))) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((raw) => Buffer.from(raw)) },
)
