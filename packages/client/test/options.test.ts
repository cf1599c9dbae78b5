import { describe, expect, test, vi } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import {
  type CreatePlantOptions,
  createPlantStoreClient,
  createPlants,
  type PlantStoreClientOptions,
  type PlantStoreEvent,
} from '../src/index.ts'
import {
  createFakeClient,
  FERN,
  failingListeners,
  given,
  refuse,
  respondFern,
  run,
} from './fakes.ts'

const create = (options: unknown) => createPlantStoreClient(options as PlantStoreClientOptions)

/** Values that cannot be those of an option. */
const wrong: Readonly<Record<string, readonly unknown[]>> = {
  timeoutMs: [0, -1, '10', Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31],
  totalTimeoutMs: [-1, 'long'],
  maxRetries: [-1, 1.5, '0'],
  fetch: ['fetch'],
  onEvent: [{}],
  headers: [
    ...['x', { a: undefined }, { a: 'b\nc' }, { 'a b': 'c' }, { Authorization: 'Bearer x' }],
    ...[{ Expect: '100-continue' }, { 'Transfer-Encoding': 'chunked' }, { 'content-length': '3' }],
    ...[new Headers({ 'X-Request-Id': '1' }), [['a', 1]], [['Host', 'a']], { a: ['b'] }],
  ],
  signal: [{}, 5],
  requestId: ['', 'a b', 'x'.repeat(129), 7],
  concurrency: [0, 1.5],
  maxOutageMs: [-1, Number.POSITIVE_INFINITY],
  baseUrl: [
    ...[null, '127.0.0.1:3000', 'ftp://127.0.0.1', 'http://a@127.0.0.1', 'http://:a@127.0.0.1'],
    ...[new URL('http://127.0.0.1/?a'), 'http://127.0.0.1/#', 'http://127.0.0.1/?', undefined, ''],
  ],
  token: [null, ' '],
  speed: [9],
}
const codes = new Map([
  ['baseUrl', 'invalid_base_url'],
  ['token', 'invalid_token'],
])
const rowsOf = (...names: readonly string[]) =>
  names.flatMap((name) => (wrong[name] ?? []).map((value): [string, unknown] => [name, value]))
const shared = rowsOf('timeoutMs', 'totalTimeoutMs', 'maxRetries', 'headers', 'speed')

describe('an option that cannot work is refused at once:', () => {
  test.each<[string, unknown, string?]>([
    ...shared,
    ...rowsOf('fetch', 'onEvent', 'baseUrl', 'token'),
    ['__proto__', 1],
    ['signal', new AbortController().signal],
    ['requestId', 'a'],
    ['token', undefined, 'missing_token'],
    ['token', '', 'missing_token'],
  ])('%s of a client, as %o', (option, value, special) => {
    const code = special ?? codes.get(option) ?? 'invalid_option'
    const options = Object.fromEntries([...Object.entries(given), [option, value]])
    const facts = { code, option, applied: 'no', retryable: false, attempts: 0 }
    expect(() => create(options)).toThrow(expect.objectContaining(facts))
  })

  test.each<[string, unknown]>([...shared, ...rowsOf('signal', 'requestId'), ['token', 'other']])(
    '%s of a call, as %o, and nothing is sent',
    async (option, value) => {
      const { sent, createPlant, tryCreatePlant } = createFakeClient(respondFern)
      const refusal = expect.objectContaining({ code: 'invalid_option', option })
      const options = { [option]: value } as CreatePlantOptions
      await expect(createPlant(FERN, options)).rejects.toEqual(refusal)
      await expect(tryCreatePlant(FERN, options)).rejects.toEqual(refusal)
      expect(sent).toEqual([])
    },
  )

  test.each<[string, unknown]>([
    ...shared,
    ...rowsOf('concurrency', 'maxOutageMs', 'signal'),
    ['requestId', 'bulk'],
  ])('%s of a bulk, as %o', (option, value) => {
    const open = () => createPlants(create(given), [], { [option]: value })
    expect(open).toThrow(expect.objectContaining({ code: 'invalid_option', option }))
  })

  test.each([null, 'options', 5, new AbortController().signal])('%o, no options', (options) => {
    expect(() => create(options)).toThrow('options must be an object')
  })

  test.each([undefined, ''])('a missing address, and what to set is named: %o', (baseUrl) => {
    const message = 'baseUrl is missing: give it, or set PLANT_STORE_BASE_URL'
    expect(() => create({ ...given, baseUrl })).toThrow(message)
  })
})

describe('an option of a client is taken', () => {
  test.each<[string, PlantStoreClientOptions]>([
    ['Infinity as the whole time', { totalTimeoutMs: Number.POSITIVE_INFINITY }],
    ['undefined for every default', { timeoutMs: undefined, headers: undefined, fetch: undefined }],
    ['the longest time', { timeoutMs: 2 ** 31 - 1, totalTimeoutMs: 2 ** 31 - 1 }],
    ['https', { baseUrl: 'HTTPS://plants.example/store/' }],
  ])('%s', (_what, options) => {
    expect(() => create({ ...given, ...options })).not.toThrow()
  })

  test('the base URL as a URL, and a later change of it changes nothing', async () => {
    const baseUrl = new URL('http://127.0.0.1:3000/store')
    const { sent, createPlant } = createFakeClient(respondFern, { baseUrl })
    baseUrl.host = 'elsewhere.example'
    await createPlant(FERN)
    expect(sent[0]?.url).toBe('http://127.0.0.1:3000/store/plants')
  })

  test('base URL and token from the environment where they are not given', async () => {
    const { fetch, sent } = createFakeClient(respondFern)
    vi.stubEnv('PLANT_STORE_BASE_URL', 'http://plants.example/store')
    vi.stubEnv('PLANT_STORE_TOKEN', ' of_the_environment\r\n')
    await createPlantStoreClient({ fetch }).createPlant(FERN)
    await createPlantStoreClient({ ...given, fetch }).createPlant(FERN)
    vi.unstubAllEnvs()
    expect(sent.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['http://plants.example/store/plants', 'Bearer of_the_environment'],
      ['http://127.0.0.1:3000/plants', 'Bearer token'],
    ])
  })
})

describe('headers', () => {
  test('of a call stand above those of the client, which stand above its own', async () => {
    const headers = { 'User-Agent': 'mine', 'x-a': '1', 'X-B': '1' }
    const { sent } = await run(respondFern, { headers }, { headers: { 'x-b': '2' } })
    expect(sent[0]?.headers).toMatchObject({ 'user-agent': 'mine', 'x-a': '1', 'x-b': '2' })
  })

  test('name the client and the runtime', async () => {
    const { sent } = await run(respondFern)
    const [node] = process.versions.node.split('.')
    const agent = `plant-store-client/${packageJson.version} node/${node}`
    expect(sent[0]?.headers['user-agent']).toBe(agent)
  })

  test('name one request by one id, and count its attempts', async () => {
    const { sent, tryCreatePlant } = createFakeClient([refuse(50300), refuse(50300), respondFern])
    const { meta } = await tryCreatePlant(FERN)
    await tryCreatePlant(FERN)
    const named = await tryCreatePlant(FERN, { requestId: 'order-66' })
    const ids = sent.map(({ headers }) => headers['x-request-id'])
    expect(ids[0]).toHaveLength(36)
    expect(ids.slice(0, 3)).toEqual(Array(3).fill(meta.requestId))
    expect(sent.map(({ headers }) => headers['x-retry-count'])).toEqual(['0', '1', '2', '0', '0'])
    expect(ids[3]).not.toBe(ids[0])
    expect([ids[4], named.meta.requestId]).toEqual(['order-66', 'order-66'])
  })

  test.each<[string, CreatePlantOptions['headers']]>([
    ['an object', { 'X-A': '1', 'x-b': '2' }],
    ['Headers', new Headers({ 'X-A': '1', 'x-b': '2' })],
    ['pairs', Object.entries({ 'X-A': '1', 'x-b': '2' })],
  ])('may be given as %s', async (_kind, headers) => {
    const ofClient = await run(respondFern, { headers })
    const ofCall = await run(respondFern, {}, { headers })
    for (const { sent } of [ofClient, ofCall]) {
      expect(sent).toMatchObject([{ headers: { 'x-a': '1', 'x-b': '2' } }])
    }
  })
})

describe('the listener of events', () => {
  test('hears of each request, response and wait, and of the failure', async () => {
    const events: PlantStoreEvent[] = []
    const onEvent = (event: PlantStoreEvent) => events.push(event)
    const { meta } = await run([refuse(50300), refuse(40003)], { onEvent })
    const durationMs = expect.any(Number)
    const full = 'the plant store answered 503: no (50300)'
    const failure = { code: 'conflict', message: 'the plant store answered 400: no (40003)' }
    const heard = [
      { type: 'request', attempt: 1 },
      { type: 'response', attempt: 1, status: 503, durationMs },
      { type: 'retry', attempt: 1, code: 'server_error', message: full, delayMs: durationMs },
      { type: 'request', attempt: 2 },
      { type: 'response', attempt: 2, status: 400, durationMs },
      { type: 'failure', attempt: 2, ...failure, applied: 'no', durationMs },
    ]
    expect(events).toEqual(heard.map((event) => ({ ...event, requestId: meta.requestId })))
  })

  test.each(failingListeners)('changes nothing where it %s', async (_what, onEvent) => {
    expect(await run(respondFern, { onEvent })).toMatchObject({ plant: { name: 'Fern' } })
  })

  test('may abort the call, and then nothing is sent', async () => {
    const controller = new AbortController()
    const onEvent = () => controller.abort()
    const { sent, error } = await run(respondFern, { onEvent }, { signal: controller.signal })
    expect(error).toMatchObject({ code: 'aborted', applied: 'no', attempts: 0 })
    expect(sent).toEqual([])
  })
})
