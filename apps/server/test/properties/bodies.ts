import { decodeJson } from '@plant-store/contract'
import fc, { type Arbitrary } from 'fast-check'
import { anyNumber, integersAround, spelled } from './numbers.ts'
import { anyText, quoted, textsOf } from './texts.ts'

/** The keywords of JSON Schema that bodies are made from. */
interface Schema {
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly format?: string
  readonly pattern?: string
}

interface OpenApiDocument {
  readonly paths: {
    readonly '/plants': {
      readonly post: {
        readonly requestBody: { readonly content: { 'application/json': { schema: Schema } } }
      }
    }
  }
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** A schema with everything that its reference and its `allOf` add. */
function flatten({ $ref, allOf = [], ...own }: Schema, schemas: Record<string, Schema>): Schema {
  const referred = $ref === undefined ? [] : [schemas[$ref.replace('#/components/schemas/', '')]]
  const parts = [...referred, ...allOf].map((part) => flatten(part as Schema, schemas))
  const properties = [...parts, own].map((part) => part.properties)
  const required = [...parts, own].flatMap((part) => part.required ?? [])
  return Object.assign({}, ...parts, own, {
    properties: Object.assign({}, ...properties),
    required,
  })
}

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
function textsFor({ type, format, pattern }: Schema): Arbitrary<string> {
  if (type === 'string') return quoted(textsOf(pattern))
  if (type !== 'integer' || format !== 'int64') {
    throw new Error(`no values are made for the type ${type} ${format}`)
  }
  return fc.oneof(
    { weight: 5, arbitrary: spelled(integersAround(-(2n ** 63n), 2n ** 63n - 1n)) },
    { weight: 1, arbitrary: anyNumber },
  )
}

/** A member as JSON text; none is an absent one. Members are ordered by `rank`. */
type Member = { readonly rank: number; readonly text: readonly [key: string, value: string] }

function member(key: Arbitrary<string>, value: Arbitrary<string>): Arbitrary<Member> {
  return fc.record({ rank: fc.nat({ max: 99 }), text: fc.tuple(key, value) })
}

function membersOf({ properties = {}, required = [] }: Schema): Arbitrary<Member[]> {
  const known = Object.keys(properties)
  const declared = Object.entries(properties).map(([name, schema]) => {
    const key = quoted(fc.constant(name))
    return fc.oneof(
      { weight: 16, arbitrary: member(key, textsFor(schema)) },
      { weight: 2, arbitrary: member(key, otherValue) },
      { weight: 1, arbitrary: member(key, anyJson) },
      { weight: required.includes(name) ? 1 : 8, arbitrary: fc.constant(undefined) },
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

function objectsOf(schema: Schema): Arbitrary<string> {
  return fc.record({ members: membersOf(schema), space }).map(({ members, space }) => {
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
  const { paths, components } = decodeJson(Buffer.from(documentText)) as unknown as OpenApiDocument
  const { schema } = paths['/plants'].post.requestBody.content['application/json']
  const object = objectsOf(flatten(schema, components.schemas))
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
