import { describe, expect, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import {
  type CreatePlantOptions,
  type CreatePlantsOptions,
  createPlantStoreClient,
  createPlants,
  type PlantStoreClientOptions,
  PlantStoreError,
  type PlantStoreEvent,
} from '../src/index.ts'
import { VERSION } from '../src/version.ts'
import { createFakeFetch, replyFern, replyJson } from './fake-fetch.ts'

const FERN = { id: 7, name: 'Fern' }
const given = { baseUrl: 'http://127.0.0.1:3000', token: 'token' }

function refusalOf(options: unknown): unknown {
  try {
    createPlantStoreClient(options as PlantStoreClientOptions)
  } catch (error) {
    return error
  }
  return undefined
}

describe('an option of a client is refused at once', () => {
  test.each<[string, string, object]>([
    ['invalid_option', 'retries', { retries: 3 }],
    ['invalid_option', '__proto__', JSON.parse('{"__proto__":1}')],
    ['invalid_option', 'signal', { signal: new AbortController().signal }],
    ['invalid_option', 'timeoutMs', { timeoutMs: 0 }],
    ['invalid_option', 'timeoutMs', { timeoutMs: '10' }],
    ['invalid_option', 'timeoutMs', { timeoutMs: Number.NaN }],
    ['invalid_option', 'timeoutMs', { timeoutMs: Number.POSITIVE_INFINITY }],
    ['invalid_option', 'timeoutMs', { timeoutMs: 2 ** 31 }],
    ['invalid_option', 'totalTimeoutMs', { totalTimeoutMs: -1 }],
    ['invalid_option', 'maxRetries', { maxRetries: -1 }],
    ['invalid_option', 'maxRetries', { maxRetries: 1.5 }],
    ['invalid_option', 'maxRetryAfterMs', { maxRetryAfterMs: -1 }],
    ['invalid_option', 'fetch', { fetch: 'fetch' }],
    ['invalid_option', 'onEvent', { onEvent: {} }],
    ['invalid_option', 'appName', { appName: '' }],
    ['invalid_option', 'appName', { appName: 'a\nb' }],
    ['invalid_option', 'headers', { headers: 'x' }],
    ['invalid_option', 'headers', { headers: { a: undefined } }],
    ['invalid_option', 'headers', { headers: { a: 'b\nc' } }],
    ['invalid_option', 'headers', { headers: { 'a b': 'c' } }],
    ['invalid_option', 'headers', { headers: { Authorization: 'Bearer x' } }],
    ['invalid_option', 'headers', { headers: { Expect: '100-continue' } }],
    ['invalid_option', 'headers', { headers: { 'Transfer-Encoding': 'chunked' } }],
    ['invalid_option', 'headers', { headers: { 'content-length': '3' } }],
    ['invalid_option', 'headers', { headers: new Headers({ 'X-Request-Id': '1' }) }],
    ['invalid_option', 'headers', { headers: [['a', 1]] }],
    ['invalid_option', 'headers', { headers: [['Host', 'a']] }],
    ['invalid_option', 'headers', { headers: { a: ['b'] } }],
    ['invalid_option', 'requestId', { requestId: 'a' }],
    ['invalid_base_url', 'baseUrl', { baseUrl: new URL('http://127.0.0.1/?a') }],
    ['invalid_base_url', 'baseUrl', { baseUrl: 'http://127.0.0.1/#' }],
    ['invalid_base_url', 'baseUrl', { baseUrl: null }],
    ['invalid_token', 'token', { token: null }],
    ['invalid_base_url', 'baseUrl', { baseUrl: '127.0.0.1:3000' }],
    ['invalid_base_url', 'baseUrl', { baseUrl: '' }],
    ['invalid_base_url', 'baseUrl', { baseUrl: 'ftp://127.0.0.1' }],
    ['invalid_base_url', 'baseUrl', { baseUrl: 'http://a@127.0.0.1' }],
    ['invalid_base_url', 'baseUrl', { baseUrl: 'http://:a@127.0.0.1' }],
    ['invalid_base_url', 'baseUrl', { baseUrl: 'http://127.0.0.1/?' }],
    ['invalid_base_url', 'baseUrl', { baseUrl: undefined }],
    ['missing_token', 'token', { token: undefined }],
    ['missing_token', 'token', { token: '' }],
    ['invalid_token', 'token', { token: ' ' }],
  ])('%s, %s: %o', (code, option, change) => {
    const refusal = refusalOf({ ...given, ...change })
    expect(refusal).toBeInstanceOf(PlantStoreError)
    expect(refusal).toMatchObject({ code, option, applied: 'no', retryable: false, attempts: 0 })
  })

  test.each([undefined, ''])('a missing address, and name what to set: %o', (baseUrl) => {
    expect(refusalOf({ ...given, baseUrl })).toMatchObject({
      message: 'baseUrl is missing: give it, or set PLANT_STORE_BASE_URL',
    })
  })

  test.each([null, 'options', 5])('what is no object: %o', (options) => {
    expect(refusalOf(options)).toMatchObject({ code: 'invalid_option', option: 'options' })
  })
})

describe('an option of a client is taken', () => {
  test.each<[string, PlantStoreClientOptions]>([
    ['Infinity as the whole time', { totalTimeoutMs: Number.POSITIVE_INFINITY }],
    ['undefined for every default', { timeoutMs: undefined, headers: undefined, fetch: undefined }],
    ['the longest time', { timeoutMs: 2 ** 31 - 1, totalTimeoutMs: 2 ** 31 - 1 }],
    ['no wait at all', { maxRetryAfterMs: 0, maxRetries: 0 }],
    ['https', { baseUrl: 'HTTPS://plants.example/store/' }],
  ])('%s', (_what, options) => {
    expect(refusalOf({ ...given, ...options })).toBeUndefined()
  })
})

describe('an option of a call', () => {
  const { fetch, sent } = createFakeFetch(replyFern)
  const { createPlant, tryCreatePlant } = createPlantStoreClient({ ...given, fetch })

  test.each<[string, object]>([
    ['signal', { signal: {} }],
    ['signal', { signal: { aborted: false, addEventListener() {} } }],
    ['options', new AbortController().signal],
    ['timeoutMs', { timeoutMs: 0 }],
    ['totalTimeoutMs', { totalTimeoutMs: 'long' }],
    ['maxRetries', { maxRetries: '0' }],
    ['headers', { headers: { authorization: 'x' } }],
    ['requestId', { requestId: '' }],
    ['requestId', { requestId: 'a b' }],
    ['requestId', { requestId: 'x'.repeat(129) }],
    ['requestId', { requestId: 7 }],
    ['maxRetryAfterMs', { maxRetryAfterMs: 1 }],
    ['token', { token: 'other' }],
  ])('%s is refused in %o, and nothing is sent', async (option, options) => {
    const refusal = expect.objectContaining({ code: 'invalid_option', option })
    await expect(createPlant(FERN, options as CreatePlantOptions)).rejects.toEqual(refusal)
    await expect(tryCreatePlant(FERN, options as CreatePlantOptions)).rejects.toEqual(refusal)
    expect(sent).toEqual([])
  })
})

test('an id is for one call, not for a bulk', () => {
  const options = { requestId: 'bulk' } as CreatePlantsOptions
  expect(() => createPlants(createPlantStoreClient(given), [], options)).toThrow(
    expect.objectContaining({ code: 'invalid_option', option: 'requestId' }),
  )
})

describe('headers', () => {
  test('of a call stand above those of the client, which stand above its own', async () => {
    const { fetch, sent } = createFakeFetch(replyFern)
    const headers = { 'User-Agent': 'mine', 'x-a': '1', 'X-B': '1' }
    const client = createPlantStoreClient({ ...given, fetch, headers })
    await client.createPlant(FERN, { headers: { 'x-b': '2' } })
    expect(sent[0]?.headers).toMatchObject({ 'user-agent': 'mine', 'x-a': '1', 'x-b': '2' })
  })

  test('name the client, the runtime and the program', async () => {
    const { fetch, sent } = createFakeFetch(replyFern)
    await createPlantStoreClient({ ...given, fetch, appName: 'garden/2' }).createPlant(FERN)
    expect(sent[0]?.headers['user-agent']).toMatch(
      /^plant-store-client\/\d+\.\d+\.\d+\S* node\/\d+ garden\/2$/,
    )
  })

  test('name one request by one id, and count its attempts', async () => {
    const { fetch, sent } = createFakeFetch((_, attempt) =>
      attempt < 3 ? replyJson(503, { error: 50300, message: 'full' }) : replyFern(),
    )
    const { tryCreatePlant } = createPlantStoreClient({ ...given, fetch })
    const { meta } = await tryCreatePlant(FERN)
    const ids = sent.map(({ headers }) => headers['x-request-id'])
    expect(ids[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(new Set(ids)).toEqual(new Set([meta.requestId]))
    expect(sent.map(({ headers }) => headers['x-retry-count'])).toEqual(['0', '1', '2'])
    await tryCreatePlant(FERN)
    expect(sent[3]?.headers['x-request-id']).not.toBe(ids[0])
    const named = await tryCreatePlant(FERN, { requestId: 'order-66' })
    expect([sent[4]?.headers['x-request-id'], named.meta.requestId]).toEqual(
      Array(2).fill('order-66'),
    )
  })

  test.each<[string, CreatePlantOptions['headers']]>([
    ['an object', { 'X-A': '1', 'x-b': '2' }],
    ['Headers', new Headers({ 'X-A': '1', 'x-b': '2' })],
    [
      'pairs',
      [
        ['X-A', '1'],
        ['x-b', '2'],
      ],
    ],
  ])('may be given as %s', async (_kind, headers) => {
    const { fetch, sent } = createFakeFetch(replyFern)
    await createPlantStoreClient({ ...given, fetch, headers }).createPlant(FERN)
    await createPlantStoreClient({ ...given, fetch }).createPlant(FERN, { headers })
    for (const request of sent) expect(request.headers).toMatchObject({ 'x-a': '1', 'x-b': '2' })
  })

  test('of a reply are in the meta of a failure too, but for those that quote the token', async () => {
    const headers = { 'x-a': '1', 'x-echo': `Bearer ${given.token}-of-mine` }
    const { fetch } = createFakeFetch(() =>
      replyJson(400, { error: 40003, message: 'taken' }, headers),
    )
    const client = createPlantStoreClient({ ...given, fetch, token: `${given.token}-of-mine` })
    const { meta } = await client.tryCreatePlant(FERN)
    expect([meta.headers?.get('x-a'), meta.headers?.has('x-echo')]).toEqual(['1', false])
  })
})

test('the base URL may be a URL, and a later change of it changes nothing', async () => {
  const { fetch, sent } = createFakeFetch(replyFern)
  const baseUrl = new URL('http://127.0.0.1:3000/store')
  const client = createPlantStoreClient({ ...given, baseUrl, fetch })
  baseUrl.host = 'elsewhere.example'
  await client.createPlant(FERN)
  expect(sent[0]?.url).toBe('http://127.0.0.1:3000/store/plants')
})

test('the version is that of package.json', () => {
  expect(VERSION).toBe(packageJson.version)
})

describe('from the environment', () => {
  test('come base URL and token where they are not given', async () => {
    const { fetch, sent } = createFakeFetch(replyFern)
    process.env.PLANT_STORE_BASE_URL = 'http://plants.example/store'
    process.env.PLANT_STORE_TOKEN = 'of_the_environment\n'
    try {
      await createPlantStoreClient({ fetch }).createPlant(FERN)
      await createPlantStoreClient({ ...given, fetch }).createPlant(FERN)
    } finally {
      delete process.env.PLANT_STORE_BASE_URL
      delete process.env.PLANT_STORE_TOKEN
    }
    expect(sent.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['http://plants.example/store/plants', 'Bearer of_the_environment'],
      ['http://127.0.0.1:3000/plants', 'Bearer token'],
    ])
  })
})

const FULL = 'the plant store answered 503: full (50300)'

describe('the listener of events', () => {
  test('hears of each request, reply and wait, and of the failure', async () => {
    const { fetch } = createFakeFetch((_, attempt) =>
      attempt === 1
        ? replyJson(503, { error: 50300, message: 'full' })
        : replyJson(400, { error: 40003, message: 'taken' }),
    )
    const events: PlantStoreEvent[] = []
    const onEvent = (event: PlantStoreEvent) => events.push(event)
    const { meta } = await createPlantStoreClient({ ...given, fetch, onEvent }).tryCreatePlant(FERN)
    expect(events).toEqual(
      [
        { type: 'request', attempt: 1 },
        { type: 'response', attempt: 1, status: 503, durationMs: expect.any(Number) },
        {
          type: 'retry',
          attempt: 1,
          code: 'server_error',
          message: FULL,
          delayMs: expect.any(Number),
        },
        { type: 'request', attempt: 2 },
        { type: 'response', attempt: 2, status: 400, durationMs: expect.any(Number) },
        {
          type: 'failure',
          attempt: 2,
          code: 'conflict',
          message: 'the plant store answered 400: taken (40003)',
          applied: 'no',
          durationMs: expect.any(Number),
        },
      ].map((event) => ({ ...event, requestId: meta.requestId })),
    )
  })

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('deaf')
      },
    ],
    ['rejects', () => Promise.reject(new Error('deaf'))],
  ])('changes nothing where it %s', async (_what, onEvent) => {
    const { fetch } = createFakeFetch(replyFern)
    const client = createPlantStoreClient({ ...given, fetch, onEvent })
    expect(await client.createPlant(FERN)).toEqual({ name: 'Fern' })
  })

  test('may abort the call, and then nothing is sent', async () => {
    const { fetch, sent } = createFakeFetch(replyFern)
    const controller = new AbortController()
    const onEvent = () => controller.abort()
    const client = createPlantStoreClient({ ...given, fetch, onEvent })
    const result = await client.tryCreatePlant(FERN, { signal: controller.signal })
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'aborted', applied: 'no', attempts: 0 },
    })
    expect(sent).toEqual([])
  })
})

test('the fields of an error as JSON are those worth a log line', async () => {
  const { fetch } = createFakeFetch(() =>
    replyJson(429, { error: 42900, message: 'many' }, { 'retry-after': '99' }),
  )
  const result = await createPlantStoreClient({ ...given, fetch }).tryCreatePlant(FERN)
  expect(JSON.parse(JSON.stringify(result.ok || result.error))).toEqual({
    name: 'PlantStoreError',
    code: 'rate_limited',
    message: 'the plant store answered 429: many (42900)',
    applied: 'maybe',
    retryable: true,
    attempts: 1,
    requestId: result.meta.requestId,
    status: 429,
    apiCode: 42900,
    apiName: 'too_many_requests',
    apiMessage: 'many',
    retryAfterMs: 99_000,
  })
})
