import { decodeJson, type JsonValue } from '@plant-store/contract'
import fc, { type Arbitrary } from 'fast-check'
import {
  type Part,
  stepInto,
  wholeOf,
} from '../../../../packages/contract/document-changes/part.ts'
import { type Shape, shapeOf } from '../../../../packages/contract/document-changes/shape.ts'
import { anyNumber, integersAround, spelled } from './numbers.ts'
import { anyText, quoted, textsOf } from './texts.ts'

const nested = fc
  .record({ levels: fc.integer({ min: 62, max: 66 }), isArray: fc.boolean() })
  .map(({ levels, isArray }) =>
    isArray
      ? `${'['.repeat(levels)}${']'.repeat(levels)}`
      : `${'{"a":'.repeat(levels)}"]}"${'}'.repeat(levels)}`,
  )

/** Any JSON text, now and then nested about as deep as is taken. */
const anyJson: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('null', 'true', 'false', '[]', '{}', '""', '0') },
  { weight: 3, arbitrary: anyNumber },
  { weight: 3, arbitrary: quoted(anyText) },
  { weight: 3, arbitrary: fc.json({ maxDepth: 3 }) },
  { weight: 2, arbitrary: nested },
)

/** What a field may not be, or may not be quite. */
const otherValue = fc.constantFrom('null', 'true', 'false', '[]', '{}', '""', '"7"', '0', '7.5')

/** JSON texts for a schema of the document, and it allows nearly all of them. */
function textsFor(schema: Part): Arbitrary<string> {
  const { keywords } = shapeOf(schema)
  const ruleOf = (name: string) => keywords.get(name)?.value
  switch (ruleOf('type')) {
    case 'integer': {
      const [min, max] = [ruleOf('minimum'), ruleOf('maximum')].map((bound) =>
        BigInt(bound as bigint),
      )
      if (min === undefined || max === undefined) throw new Error('an integer without bounds')
      return fc.oneof(
        { weight: 5, arbitrary: spelled(integersAround(min, max)) },
        { weight: 1, arbitrary: anyNumber },
      )
    }
    case 'string':
      return quoted(textsOf(ruleOf('pattern') as string | undefined))
    default:
      throw new Error(`no values are made for ${schema.pointer}`)
  }
}

/** A member as JSON text; none is an absent one. Members are ordered by `rank`. */
type Member = { readonly rank: number; readonly text: readonly [key: string, value: string] }

function member(key: Arbitrary<string>, value: Arbitrary<string>): Arbitrary<Member> {
  return fc.record({ rank: fc.nat({ max: 99 }), text: fc.tuple(key, value) })
}

function membersOf({ properties, required }: Shape): Arbitrary<Member[]> {
  const known = [...properties.keys()]
  const declared = [...properties].map(([name, schema]) => {
    const key = quoted(fc.constant(name))
    return fc.oneof(
      { weight: 16, arbitrary: member(key, textsFor(schema)) },
      { weight: 2, arbitrary: member(key, otherValue) },
      { weight: 1, arbitrary: member(key, anyJson) },
      { weight: required.has(name) ? 1 : 8, arbitrary: fc.constant(undefined) },
    )
  })
  const others = fc.constantFrom(...known, '__proto__', 'constructor', 'toString', 'ID', 'Name', '')
  const key = quoted(fc.oneof(others, anyText))
  const more = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(member(key, anyJson), { maxLength: 2 }) },
  )
  return fc
    .tuple(fc.tuple(...declared), more)
    .map(([own, added]) => [...own.filter((one) => one !== undefined), ...added])
}

const space = fc.constantFrom('', '', '', ' ', '\n\t', ' \r\n')

function objectsOf(shape: Shape): Arbitrary<string> {
  return fc.record({ members: membersOf(shape), space }).map(({ members, space }) => {
    const ordered = members.toSorted((one, other) => one.rank - other.rank)
    const texts = ordered.map(({ text }) => text.join(`${space}:${space}`))
    return `${space}{${space}${texts.join(`${space},${space}`)}${space}}${space}`
  })
}

const token = fc.constantFrom(
  ...'{}[]":,\\-+.eE01 \n',
  '"id"',
  '"name"',
  '1.5',
  'null',
  '\\u0000',
  'é',
)

/** A change of a text's bytes at a place, which is taken modulo its length. */
const edit = fc.record({
  at: fc.nat(),
  removed: fc.constantFrom(0, 1, 1, 2, 1000),
  inserted: fc.oneof(
    fc.uint8Array({ maxLength: 2 }),
    token.map((text) => new TextEncoder().encode(text)),
  ),
})

function mutate(
  bytes: Uint8Array,
  edits: readonly { at: number; removed: number; inserted: Uint8Array }[],
) {
  return edits.reduce((changed: Buffer, { at, removed, inserted }) => {
    const place = at % (changed.length + 1)
    return Buffer.concat([changed.subarray(0, place), inserted, changed.subarray(place + removed)])
  }, Buffer.from(bytes))
}

/** Bodies for `POST /plants`, made from what a document says of them. */
export function bodiesFor(documentText: string): Arbitrary<Buffer> {
  const document: JsonValue = decodeJson(Buffer.from(documentText))
  const path = ['paths', '/plants', 'post', 'requestBody', 'content', 'application/json', 'schema']
  const object = objectsOf(shapeOf(path.reduce(stepInto, wholeOf(document))))
  const bytes = object.map((text) => Buffer.from(text))
  const edits = fc.array(edit, { minLength: 1, maxLength: 3 })
  return fc.oneof(
    { weight: 12, arbitrary: bytes },
    { weight: 1, arbitrary: bytes.map((text) => Buffer.concat([Buffer.from('\ufeff'), text])) },
    { weight: 5, arbitrary: fc.tuple(bytes, edits).map((parts) => mutate(...parts)) },
    { weight: 1, arbitrary: anyJson.map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.array(token).map((tokens) => Buffer.from(tokens.join(''))) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((raw) => Buffer.from(raw)) },
  )
}
