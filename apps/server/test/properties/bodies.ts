import type { NewPlant } from '@plant-store/contract'
import fc, { type Arbitrary } from 'fast-check'

/** One of several, each as often as its weight says. */
function weighted<Value>(...choices: [weight: number, arbitrary: Arbitrary<Value>][]) {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}

const words = (text: string) => fc.constantFrom(...text.split(' '))

/** Numbers that are easily taken for others. */
const trickyNumber = words(
  '-0 0.0 -0.0e5 0e1000000000 7.0 70e-1 1E3 1e+3 0.1e1 1.5 5e-1 1e400 -1e400 1e1000000000 1e-400 ' +
    '1e-1000000000 3.0000000000000001 9007199254740993 9007199254740993.0 -9007199254740993 ' +
    '9007199254740992.5 9223372036854775807 9223372036854775808 9223372036854775807.5 ' +
    '9.223372036854775807e18 -9223372036854775808 -9223372036854775809 -9223372036854775808.5 ' +
    '18446744073709551616',
)

/** Any number of RFC 8259 §6; few are ids. */
const anyNumber = fc.oneof(
  trickyNumber,
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,21})(\.[0-9]{1,22})?([eE][+-]?[0-9]{1,3})?$/),
)

/** Spells an integer with its point moved: 1234 as 12.34e2, or as 1234000E-3. */
function spell(value: bigint, places: number, mark: string): string {
  const sign = value < 0n ? '-' : ''
  const plain = String(value < 0n ? -value : value)
  const zeros = value === 0n ? '' : '0'.repeat(Math.max(0, -places))
  if (places <= 0) return `${sign}${plain}${zeros}${mark}${places}`
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
const spelledInteger = weighted<string>(
  [4, integer.map(String)],
  [1, fc.tuple(integer, words('.0 .000 e0 E+00 .0e-0')).map((parts) => parts.join(''))],
  [
    1,
    fc
      .tuple(integer, fc.integer({ min: -10, max: 25 }), words('e E'))
      .map((parts) => spell(...parts)),
  ],
)

const codeUnit = fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit))
const suspicious = fc.constantFrom(
  ...[...'a "\\/\n\t\u0000\u001f\u007fé\u2028\ufeff\ufffd', '🌿', '\ud83c', '\udf3f'],
)

/** Any text that a JSON string can hold: lone surrogates and U+0000 as well. */
const anyText = weighted<string>(
  [4, fc.string({ unit: 'grapheme' })],
  [1, fc.string({ unit: 'binary' })],
  [1, fc.string({ unit: codeUnit, maxLength: 5 })],
  [1, fc.string({ unit: suspicious, maxLength: 5 })],
)

function escapeAll(text: string): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
  const hex = units.map((unit) => unit.toString(16).padStart(4, '0'))
  return `"${hex.map((one, index) => `\\u${index % 2 ? one.toUpperCase() : one}`).join('')}"`
}

/** Text as a JSON string, its characters as they are or escaped. */
const quoted = (text: Arbitrary<string>) =>
  weighted<string>([4, text.map((raw) => JSON.stringify(raw))], [1, text.map(escapeAll)])

/** Nested about as deep as is taken. */
const nested = fc
  .tuple(fc.integer({ min: 62, max: 66 }), fc.constantFrom(['[', ']', ''], ['{"a":', '}', '"]}"']))
  .map(
    ([levels, [open = '', close = '', inner = '']]) =>
      open.repeat(levels) + inner + close.repeat(levels),
  )

const otherValue = words('null true false [] {} "" "7" 0 7.5')

const anyJson = fc.oneof(otherValue, anyNumber, quoted(anyText), fc.json({ maxDepth: 3 }), nested)

/** JSON texts for each field, nearly all of them allowed. */
const fields: Readonly<Record<keyof NewPlant, Arbitrary<string>>> = {
  id: weighted<string>([5, spelledInteger], [1, anyNumber]),
  name: quoted(anyText),
  tag: quoted(anyText),
}

/** Members as JSON texts, their key and their value; often none. */
type Members = readonly [key: string, value: string][]

const ownMembers = Object.entries(fields).map(([name, value]) => {
  const member = (text: Arbitrary<string>) => fc.tuple(quoted(fc.constant(name)), text)
  return weighted<Members[number] | undefined>(
    [16, member(value)],
    [2, member(otherValue)],
    [1, member(anyJson)],
    [name === 'tag' ? 8 : 1, fc.constant(undefined)],
  )
})
const namedKey = fc.constantFrom(...Object.keys(fields), '__proto__', 'toString', 'ID', '')
const otherMembers = weighted<Members>(
  [3, fc.constant([])],
  [1, fc.array(fc.tuple(quoted(fc.oneof(namedKey, anyText)), anyJson), { maxLength: 2 })],
)

const space = fc.constantFrom('', '', '', ' ', '\n\t', ' \r\n')

const object = fc
  .tuple(fc.tuple(...ownMembers), otherMembers, space, fc.boolean())
  .map(([own, others, blank, isTurned]) => {
    const members = [...own, ...others].filter((one) => one !== undefined)
    const texts = members.map((one) => one.join(`${blank}:${blank}`))
    const list = (isTurned ? texts.toReversed() : texts).join(`${blank},${blank}`)
    return `${blank}{${blank}${list}${blank}}${blank}`
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
      const [before, after] = [changed.subarray(0, place), changed.subarray(place + removed)]
      return Buffer.concat([before, inserted, after])
    }, bytes),
  )

/** Bodies for `POST /plants`. */
export const anyBody = weighted<Buffer>(
  [12, objectBytes],
  [1, object.map((text) => Buffer.from(`\ufeff${text}`))],
  [5, editedBytes],
  [1, anyJson.map((text) => Buffer.from(text))],
  [1, fc.array(token).map((tokens) => Buffer.from(tokens.join('')))],
  [1, fc.uint8Array({ maxLength: 64 }).map((raw) => Buffer.from(raw))],
)
