import { getEventListeners } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { createClient } from '../src/client.ts'
import { createPlantStoreClient, type PlantStoreClientOptions } from '../src/index.ts'
import { systemRuntime } from '../src/runtime.ts'
import { createFakeFetch, type FakeReply, replyFern, replyJson } from './fake-fetch.ts'
import { createFakeRuntime, START_OF_TIME } from './fake-runtime.ts'

const FERN = { id: 7, name: 'Fern' }
const given = { baseUrl: 'http://127.0.0.1:3000', token: 'token' }
const unavailable = (headers = {}) => replyJson(503, { error: 50300, message: 'full' }, headers)

/** A client by a clock of its own, whose requests get these replies in turn, the last for ever. */
function createFakeClient(replies: readonly FakeReply[], options: PlantStoreClientOptions = {}) {
  const runtime = createFakeRuntime()
  const { fetch, sent } = createFakeFetch((request, attempt) => {
    const reply = replies[Math.min(attempt, replies.length) - 1]
    return reply?.(request, attempt) as Response
  })
  return { runtime, sent, client: createClient({ ...given, fetch, ...options }, runtime) }
}

describe('a call', () => {
  test('asks for no token and sends nothing where it was aborted before', async () => {
    let asked = 0
    const token = () => String(++asked)
    const { client, sent } = createFakeClient([replyFern], { token })
    const result = await client.tryCreatePlant(FERN, { signal: AbortSignal.abort('gone') })
    expect(result).toMatchObject({ ok: false, error: { code: 'aborted', cause: 'gone' } })
    expect(result.meta).toEqual({ attempts: 0, durationMs: 0 })
    expect([asked, sent.length]).toEqual([0, 0])
  })

  test('reports its last status, its attempts, its time, and the headers of the plant', async () => {
    const { client, runtime } = createFakeClient([
      () => unavailable({ 'retry-after': '2' }),
      () => replyJson(200, { name: 'Fern' }, { 'x-a': '1' }),
    ])
    const { meta } = await runtime.runUntilDone(client.tryCreatePlant(FERN))
    expect(meta).toMatchObject({ status: 200, attempts: 2, durationMs: 2_100 })
    expect(meta.headers?.get('x-a')).toBe('1')
  })

  test.each([
    ['of.a-proxy_1', 'of.a-proxy_1'],
    ['', '00000000-0000-4000-8000-000000000001'],
    ['a b', '00000000-0000-4000-8000-000000000001'],
    ['x'.repeat(129), '00000000-0000-4000-8000-000000000001'],
  ])('is known by the id of the reply where that is one: %s', async (id, expected) => {
    const refuse = () => replyJson(400, { error: 40003, message: 'taken' }, { 'x-request-id': id })
    const { client } = createFakeClient([refuse])
    await expect(client.createPlant(FERN)).rejects.toMatchObject({ requestId: expected })
  })

  test('has a fresh time for each attempt', async () => {
    const { client, runtime, sent } = createFakeClient([() => new Promise(() => {})], {
      timeoutMs: 1_000,
      totalTimeoutMs: 1e6,
    })
    const result = await runtime.runUntilDone(client.tryCreatePlant(FERN))
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'attempt_timeout', timeoutMs: 1_000 },
    })
    expect([sent.length, result.meta.durationMs]).toEqual([4, 4_000 + 125 + 250 + 500])
    expect(runtime.running).toBe(0)
  })

  test('ends with its whole time in the middle of an attempt', async () => {
    const { client, runtime } = createFakeClient([() => new Promise(() => {})])
    const result = await runtime.runUntilDone(
      client.tryCreatePlant(FERN, { totalTimeoutMs: 5_000 }),
    )
    expect(result).toMatchObject({
      ok: false,
      error: { name: 'PlantStoreError', code: 'total_timeout', timeoutMs: 5_000 },
      meta: { durationMs: 5_000 },
    })
  })

  test.each([
    [
      "by the server's clock where the reply has a date",
      { date: new Date(0).toUTCString() },
      5_000,
    ],
    ['by its own where not', {}, 3_000],
  ])('reads a date in Retry-After %s', async (_what, headers, retryAfterMs) => {
    const date = Object.keys(headers).length > 0 ? 5_000 : START_OF_TIME + 3_000
    const after = { 'retry-after': new Date(date).toUTCString(), ...headers }
    const { client } = createFakeClient([() => unavailable(after)], { maxRetryAfterMs: 0 })
    await expect(client.createPlant(FERN)).rejects.toMatchObject({ retryAfterMs })
  })

  test('ends at once where fetch does not heed its signal', async () => {
    const controller = new AbortController()
    let isCancelled = false
    const body = new ReadableStream({
      cancel() {
        isCancelled = true
      },
    })
    const fetch = async () => new Response(body)
    const { client } = createFakeClient([], { fetch })
    const call = client.tryCreatePlant(FERN, { signal: controller.signal })
    await new Promise(setImmediate)
    controller.abort()
    expect(await call).toMatchObject({ ok: false, error: { code: 'aborted', applied: 'maybe' } })
    expect(isCancelled).toBe(true)
  })

  test('quotes 80 characters of a reply that is none, and what is wrong with it', async () => {
    const { client } = createFakeClient([() => replyJson(200, { nome: 'F'.repeat(200) })])
    await expect(client.createPlant(FERN)).rejects.toMatchObject({
      snippet: `{"nome":"${'F'.repeat(71)}`,
      contentType: 'text/plain;charset=UTF-8',
      issues: [{ path: ['name'], message: 'is required' }],
      message:
        "the response of 127.0.0.1:3000 with status 200 is not one of the plant store's: name is required",
    })
  })

  test.each<[string, FakeReply, string]>([
    [
      'an Error for a path that is not there names the address',
      () => replyJson(404, { error: 40400, message: 'no such path' }),
      'the plant store answered 404 for http://127.0.0.1:3000/plants: no such path (40400)',
    ],
    [
      'so does a page',
      () => new Response('<p>', { status: 404 }),
      "the response of http://127.0.0.1:3000/plants with status 404 is not one of the plant store's: the body is not valid JSON",
    ],
    [
      'a redirect names where it leads',
      () => new Response('', { status: 302, headers: { location: '/sign-in' } }),
      "the response of 127.0.0.1:3000 with status 302 is not one of the plant store's: it is a redirect to /sign-in, which is not followed",
    ],
    [
      'or that it leads nowhere',
      () => new Response('', { status: 399 }),
      "the response of 127.0.0.1:3000 with status 399 is not one of the plant store's: it is a redirect, which is not followed",
    ],
    [
      'a proxy is named',
      () => new Response('', { status: 407 }),
      "the response of 127.0.0.1:3000 with status 407 is not one of the plant store's: a proxy requires authentication",
    ],
  ])('%s', async (_what, reply, message) => {
    const { client, sent } = createFakeClient([reply])
    await expect(client.createPlant(FERN)).rejects.toMatchObject({ message })
    expect(sent).toHaveLength(1)
  })

  test('fails at once where the runtime has no fetch', async () => {
    vi.stubGlobal('fetch', undefined)
    const result = await createPlantStoreClient(given).tryCreatePlant(FERN)
    vi.unstubAllGlobals()
    const error = { code: 'invalid_option', option: 'fetch', applied: 'no', attempts: 0 }
    expect(result).toMatchObject({ ok: false, error })
  })

  test.each([undefined, null, 5, {}, { status: 200 }, { status: 200, headers: 5 }, 'gone'])(
    'ends with an error of the client where fetch gives %o',
    async (given) => {
      const fetch = (async () => given) as unknown as typeof globalThis.fetch
      const { client, runtime } = createFakeClient([], { fetch })
      const result = await runtime.runUntilDone(client.tryCreatePlant(FERN))
      expect(result).toMatchObject({ ok: false, error: { applied: 'maybe' } })
    },
  )

  test('does not read a reply without end', async () => {
    let pulled = 0
    const endless = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => {
            pulled++
            controller.enqueue(new Uint8Array(10_000).fill(32))
          },
        }),
      )
    const { client } = createFakeClient([endless])
    await expect(client.createPlant(FERN)).rejects.toMatchObject({ code: 'unexpected_response' })
    expect(pulled).toBeLessThan(12)
  })
})

describe("the machine's runtime", () => {
  test('never ends a wait too early', async () => {
    for (let ms = 1; ms < 8; ms++) {
      const begin = performance.now()
      await new Promise<void>((resolve) => void systemRuntime.startTimer(resolve, ms))
      expect(performance.now() - begin).toBeGreaterThanOrEqual(ms)
    }
  })
})

test('300 calls at a time have one listener on the signal, and none in the end', async () => {
  const { signal } = new AbortController()
  const { client } = createFakeClient([replyFern])
  const calls = Array.from({ length: 300 }, (_, id) =>
    client.createPlant({ id, name: 'Fern' }, { signal }),
  )
  await Promise.resolve()
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  await Promise.all(calls)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

test('a client cannot be changed, and shows nothing', () => {
  const client = createPlantStoreClient(given)
  expect(Object.isFrozen(client)).toBe(true)
  expect(JSON.stringify(client)).toBe('{}')
})
