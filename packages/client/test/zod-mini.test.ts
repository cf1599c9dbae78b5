import { createRequire } from 'node:module'
import { contract, ErrorBody, INT64_MAX, INT64_MIN, SUCCESS_STATUS } from '@plant-store/contract'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as own from '../src/zod-mini.ts'

// By Node.js itself, which knows nothing of what the build puts in the place of zod.
const require = createRequire(import.meta.url)
const byZod: typeof import('@plant-store/contract') = require('@plant-store/contract')
const zod = createRequire(require.resolve('@plant-store/contract'))('zod/mini')

interface Failure {
  readonly issues: readonly { readonly path: PropertyKey[]; readonly message: string }[]
}

/** As far as both are used. */
interface Validator {
  safeParse(value: unknown): {
    readonly data?: unknown
    readonly error?: Failure | undefined
  }
}

function outcomeOf(validator: Validator, value: unknown): unknown {
  try {
    const { data, error } = validator.safeParse(value)
    return error ? error.issues.map(({ path, message }) => ({ path, message })) : { data }
  } catch (thrown) {
    return { thrown }
  }
}

/** Makes the same value each time, and notes what is done to it. */
type Maker = (note: (what: string) => void) => unknown

function observe(validator: Validator, make: Maker): unknown {
  const seen: string[] = []
  const outcome = outcomeOf(
    validator,
    make((what) => seen.push(what)),
  )
  return { outcome, seen }
}

/** Constructs in other combinations than those of the contract, by either implementation. */
function combine(z: typeof own) {
  const even = (value: unknown) => typeof value === 'number' && value % 2 === 0
  const text = z.string({ error: ({ input }) => `no text but ${typeof input}` })
  const checked = text.check(
    z.regex(/^a/g, { error: 'must begin with a' }),
    z.regex(/b$/y, 'must end in b'),
    z.meta({ x: 1 }),
  )
  const inner = z.object({ name: checked, even: z.custom(even) })
  const doubled = z.pipe(
    z.custom<number>(even, 'must be even').check(z.meta({})),
    z.transform((value) => value * 2),
  )
  const outer = z.object({
    id: doubled,
    name: z.optional(z.nullable(text)),
    tag: z.nullable(inner),
    error: z.int32(),
    message: z.optional(inner),
  })
  const more = z.extend(outer, { tag: z.optional(doubled), other: z.string() })
  const few = z.pick(more, { message: true, tag: true })
  return { text, checked, inner, doubled, outer, more, few, lone: z.nullable(doubled) }
}

const STATUSES = [SUCCESS_STATUS, 400, 503] as const
const pairs: readonly (readonly [string, Validator, Validator])[] = [
  ['a request', contract.createPlant.body, byZod.contract.createPlant.body],
  ...STATUSES.map(
    (status) =>
      [
        `a reply with ${status}`,
        contract.createPlant.responses[status],
        byZod.contract.createPlant.responses[status],
      ] as const,
  ),
  ['an Error', ErrorBody, byZod.ErrorBody],
  ...Object.entries(combine(own)).map(
    ([name, schema]) =>
      [name, schema, combine(zod)[name as keyof ReturnType<typeof combine>]] as const,
  ),
]

const BOUNDS = [INT64_MIN, INT64_MAX, -(2n ** 31n), 2n ** 31n, 2n ** 53n, 0n]
const edges = BOUNDS.flatMap((bound) => [bound - 1n, bound, bound + 1n])
const member: fc.Arbitrary<unknown> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.constantFrom<unknown>('a', 'ab', 'a\0b', 'ab\n', '\uD800', '\uDC00a', '😀', '', 'undefined'),
  fc.constantFrom<unknown>(...edges, ...edges.map(Number)),
  fc.constantFrom<unknown>(-0, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300, undefined, null),
  fc.constantFrom<unknown>(Object(1), Object('a'), Object(1n), Symbol.iterator, Math.max),
  fc.bigInt(),
  fc.integer(),
  fc.anything({ withBigInt: true, withDate: true, withSparseArray: true, maxDepth: 1 }),
)

const KEYS = ['id', 'name', 'tag', 'error', 'message', 'even', 'other', '__proto__', 'constructor']
const others: fc.Arbitrary<[string, unknown][]> = fc.array(
  fc.tuple(
    fc.oneof(
      fc.constantFrom(...KEYS),
      fc.string().filter((key) => !/^(?:length|prototype)$/.test(key)),
    ),
    fc.oneof(
      { weight: 4, arbitrary: member },
      {
        weight: 1,
        arbitrary: fc.dictionary(fc.constantFrom('name', 'even', 'x'), member, { maxKeys: 3 }),
      },
    ),
  ),
  { maxLength: 8 },
)

/** Mostly wrong, and often enough a plant or an Error. */
const entries: fc.Arbitrary<[string, unknown][]> = fc.oneof(
  { weight: 2, arbitrary: others },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...edges, ...edges.map(Number)),
        fc.string(),
        fc.integer(),
        fc.option(others, { nil: [] }),
      )
      .map(([id, name, error, more]): [string, unknown][] => [
        ['id', id],
        ['name', name],
        ['error', error],
        ['message', name],
        ...more,
      ]),
  },
)

function define(target: object, members: [string, unknown][], hidden = false): object {
  for (const [key, value] of members) {
    const rest = { configurable: true, enumerable: !hidden, writable: true }
    Reflect.defineProperty(target, key, { value, ...rest })
  }
  return target
}

/** Each read is noted and gives something else. */
function defineGetters(target: object, members: [string, unknown][], note: (what: string) => void) {
  for (const [key, value] of members) {
    let reads = 0
    const get = () => {
      note(`get ${key}`)
      if (value === Math.max) throw new Error(`no ${key}`)
      return reads++ === 0 ? value : 'another'
    }
    Object.defineProperty(target, key, { configurable: true, enumerable: true, get })
  }
  return target
}

/** A proxy that notes each trap; with `lies` it denies what it has and claims what it has not. */
function observed(target: object, note: (what: string) => void, lies: boolean): object {
  return new Proxy(target, {
    get(from, key, receiver) {
      note(`get ${String(key)}`)
      return Reflect.get(from, key, receiver)
    },
    has(from, key) {
      note(`has ${String(key)}`)
      return lies !== Reflect.has(from, key)
    },
    ownKeys(from) {
      note('ownKeys')
      return Reflect.ownKeys(from)
    },
    getPrototypeOf() {
      note('getPrototypeOf')
      return null
    },
  })
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const FORMS: readonly ((members: [string, unknown][]) => Maker)[] = [
  (members) => () => define({}, members),
  (members) => () => Object.freeze(define({}, members)),
  (members) => () => define({}, members, true),
  (members) => () => Object.create(define({}, members)),
  (members) => () => define(Object.create(null), members),
  (members) => () => define([1, 2], members),
  (members) => () => define(() => {}, members),
  (members) => () => define(new Map(), members),
  (members) => () => define(Object('boxed'), members),
  (members) => (note) => defineGetters({}, members, note),
  (members) => (note) => Object.create(defineGetters({}, members, note)),
  (members) => (note) => observed(define({}, members), note, false),
  (members) => (note) => observed(define({}, members), note, true),
  (members) => (note) => observed(define([], members), note, false),
  (members) => (note) => observed(defineGetters({}, members, note), note, true),
  () => revoked,
]

const makers: fc.Arbitrary<Maker> = fc.oneof(
  { weight: 1, arbitrary: member.map((value) => () => value) },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom(...FORMS), entries).map(([form, members]) => form(members)),
  },
)

describe('without zod the same is read, given and said of', () => {
  test.each(pairs)('%s', async (_name, validator, zodValidator) => {
    expect(validator).not.toHaveProperty('_zod')
    expect(zodValidator).toHaveProperty('_zod')
    await fc.assert(
      fc.property(makers, (make) => {
        expect(observe(validator, make)).toStrictEqual(observe(zodValidator, make))
      }),
      { numRuns: 2_000 },
    )
  })
})

test('the inputs of this comparison reach what is taken, and every rule of a request', () => {
  const said = new Set<string>()
  const taken: unknown[] = []
  for (const make of fc.sample(makers, { numRuns: 20_000, seed: 1 })) {
    const outcome = outcomeOf(
      contract.createPlant.body,
      make(() => {}),
    )
    if (Array.isArray(outcome))
      for (const { path, message } of outcome) said.add(`${path} ${message}`)
    else if ('data' in Object(outcome)) taken.push(outcome)
  }
  const range = `must be an integer between ${INT64_MIN} and ${INT64_MAX}`
  const unicode = 'must be well-formed Unicode without U+0000'
  expect([...said].toSorted()).toEqual(
    [
      ' must be a JSON object with id and name',
      ...['is required', range, 'Invalid input'].map((rule) => `id ${rule}`),
      ...['is required', 'must be a string', unicode, 'Invalid input'].map(
        (rule) => `name ${rule}`,
      ),
      ...['must be a string', unicode].map((rule) => `tag ${rule}`),
    ].toSorted(),
  )
  expect(taken.length).toBeGreaterThan(100)
})
