import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import {
  createPlantStoreClient,
  type PlantStoreClientOptions,
  type PlantStoreEvent,
} from '../src/index.ts'
import { createRestClient } from '../src/rest.ts'
import { createFakeFetch, type FakeReply, fetchFailed, replyFern, replyJson } from './fake-fetch.ts'

const FERN = { id: 7, name: 'Fern' }

/** Each has a part that no spelling changes, by which it is found. */
const TOKENS: readonly [name: string, token: string, part: RegExp][] = [
  ['an ordinary token', 'plant_0a1b2c3d4e5f', /0a1b2c3d/i],
  ['a token of odd characters', `q"\\/<&>'$1.*+?^[x](y){z}|%41=~hUnTeR2`, /hunter2|\(y\)/i],
]

const bearer = (token: string) => `Bearer ${token}`
const html = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** Each quotes the credential in another place or spelling. */
const CASES: readonly [name: string, reply: (token: string) => FakeReply][] = [
  ['a refusal', (token) => () => replyJson(400, { error: 40002, message: `no ${token}` })],
  [
    'a refusal in capitals',
    (token) => () => replyJson(401, { error: 40101, message: bearer(token).toUpperCase() }),
  ],
  ['a 503', (token) => () => replyJson(503, { error: 50300, message: bearer(token) })],
  [
    'an id of the request',
    (token) => () => replyJson(400, { error: 40000, message: '' }, { 'x-request-id': token }),
  ],
  [
    'a page',
    (token) => () =>
      new Response(`<p>${html(token)}</p>`, { headers: { 'content-type': `text/${token}` } }),
  ],
  [
    'a page, in a URL',
    (token) => () => new Response(`/?t=${encodeURIComponent(token)}`, { status: 502 }),
  ],
  ['broken JSON', (token) => () => new Response(`{"name":${JSON.stringify(token)}`)],
  ['a page, across the cut', (token) => () => new Response('x'.repeat(70) + token)],
  ['JSON of another shape', (token) => () => replyJson(200, { [token]: token })],
  ['what fetch throws', (token) => () => Promise.reject(new TypeError(`bad header ${token}`))],
  [
    'the cause of what fetch throws',
    (token) => () => {
      const cause = Object.assign(new Error(bearer(token)), { code: token, headers: { token } })
      return Promise.reject(new TypeError('fetch failed', { cause }))
    },
  ],
  ['a text that fetch throws', (token) => () => Promise.reject(bearer(token))],
  ['a lost connection', () => () => Promise.reject(fetchFailed('ECONNRESET', 'read'))],
  ['a timeout', () => () => new Promise(() => {})],
]

/** Every text that can be had from a value, by whatever a program may print. */
function* textsOf(value: unknown): Generator<string> {
  yield inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true })
  yield JSON.stringify(value) ?? ''
  yield String(value)
  for (let error = value; error instanceof Error; error = error.cause) {
    yield `${error.message} ${error.stack}`
    for (const key of Reflect.ownKeys(error)) yield String(Reflect.get(error, key))
  }
}

/** The first text that shows it. */
function findText(value: unknown, part: RegExp): string | undefined {
  return [...textsOf(value)].find((text) => part.test(text))
}

describe.each(TOKENS)('%s is not shown', (_name, token, part) => {
  describe.each(CASES)('after %s', (_case, reply) => {
    test.each(['a text', 'a function'])('where it is given as %s', async (kind) => {
      const { fetch } = createFakeFetch(reply(token))
      const events: PlantStoreEvent[] = []
      const options: PlantStoreClientOptions = {
        baseUrl: 'http://127.0.0.1:3000',
        token: kind === 'a text' ? token : async () => token,
        fetch,
        timeoutMs: 10,
        maxRetries: 0,
        onEvent: (event) => events.push(event),
      }
      const client = createPlantStoreClient(options)
      const rest = createRestClient(options)
      const thrown: unknown = await client.createPlant(FERN).catch((error: unknown) => error)
      expect(thrown).toBeInstanceOf(Error)
      expect(findText(thrown, part)).toBeUndefined()
      expect(findText(await client.tryCreatePlant(FERN), part)).toBeUndefined()
      const raw = await rest.createPlant({ body: FERN }).catch((error: unknown) => error)
      expect(findText({ ...(raw as object), headers: undefined }, part)).toBeUndefined()
      expect(findText(events, part)).toBeUndefined()
      expect(findText(client, part)).toBeUndefined()
    })
  })

  test('by what is found in a value', () => {
    for (const value of [token, new Error(token), new Error('x', { cause: new Error(token) })]) {
      expect(findText(value, part)).toBeDefined()
    }
  })
})

describe('the error for a token that no header can hold does not quote it', () => {
  const tokens = [
    'hunter2\ntoken',
    'hunter2 token',
    'hunter2\u0000',
    'hunter2é',
    'x\r\nevil: hunter2',
  ]

  test.each(tokens)('%j', async (token) => {
    const thrown: unknown[] = []
    const { fetch, sent } = createFakeFetch(replyFern)
    const create = async (given: string | (() => string)) =>
      createPlantStoreClient({ baseUrl: 'http://127.0.0.1:3000', token: given, fetch }).createPlant(
        FERN,
      )
    await create(token).catch((error) => thrown.push(error))
    await create(() => token).catch((error) => thrown.push(error))
    expect(thrown).toMatchObject([
      { name: 'PlantStoreConfigError', code: 'invalid_token', option: 'token', applied: 'no' },
      { name: 'PlantStoreConfigError', code: 'invalid_token', option: 'token', applied: 'no' },
    ])
    expect(findText(thrown[0], /hunter2/)).toBeUndefined()
    expect(findText(thrown[1], /hunter2/)).toBeUndefined()
    expect(sent).toEqual([])
  })
})

test('what a token function throws is not passed on', async () => {
  const token = () => {
    throw new RangeError('the vault says: hunter2')
  }
  const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1:3000', token })
  const thrown = await client.createPlant(FERN).catch((error: unknown) => error)
  expect(thrown).toMatchObject({
    code: 'token_provider_failed',
    message: 'token could not be had: its function threw RangeError',
    attempts: 0,
  })
  expect(findText(thrown, /hunter2/)).toBeUndefined()
})

test('a password in the base URL is refused without it', () => {
  const create = () =>
    createPlantStoreClient({ baseUrl: 'http://user:hunter2@127.0.0.1', token: 'token' })
  expect(create).toThrow('baseUrl must be')
  expect(create).not.toThrow('hunter2')
})
