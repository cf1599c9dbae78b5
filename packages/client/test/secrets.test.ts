import { describe, expect, test } from 'vitest'
import { findSecret } from '../runtimes/secret-search.ts'
import {
  createPlantStoreClient,
  type PlantStoreClientOptions,
  type PlantStoreEvent,
} from '../src/index.ts'
import { createRestClient } from '../src/rest.ts'
import { createFakeFetch, type FakeReply, fetchFailed, replyJson } from './fake-fetch.ts'

const FERN = { id: 7, name: 'Fern' }

/** Each has a part that no spelling changes, by which it is found. */
const TOKENS: readonly [name: string, token: string][] = [
  ['an ordinary token', 'plant_0a1b2c3d4e5f'],
  ['a token of odd characters', `q"\\/<&>'$1.*+?^[x](y){z}|%41=~hUnTeR2`],
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

describe.each(TOKENS)('%s is not shown', (_name, token) => {
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
      expect(findSecret(thrown, token)).toBeUndefined()
      expect(findSecret(await client.tryCreatePlant(FERN), token)).toBeUndefined()
      const raw = await rest.createPlant({ body: FERN }).catch((error: unknown) => error)
      expect(findSecret({ ...(raw as object), headers: undefined }, token)).toBeUndefined()
      expect(findSecret(events, token)).toBeUndefined()
      expect(findSecret(client, token)).toBeUndefined()
    })
  })

  test('by what is found in a value', () => {
    for (const value of [token, new Error(token), new Error('x', { cause: new Error(token) })]) {
      expect(findSecret(value, token)).toBeDefined()
    }
  })
})

test('what a token function throws is not passed on', async () => {
  const token = () => {
    throw new RangeError('the vault says: hunter2!')
  }
  const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1:3000', token })
  const thrown = await client.createPlant(FERN).catch((error: unknown) => error)
  expect(thrown).toMatchObject({
    code: 'token_provider_failed',
    message: 'token could not be had: its function threw RangeError',
    attempts: 0,
  })
  expect(findSecret(thrown, 'hunter2!')).toBeUndefined()
})
