import { getEventListeners } from 'node:events'
import { decodeJson } from '@plant-store/contract'
import invalidCases from '@plant-store/contract/cases/invalid.json' with { type: 'json' }
import validCases from '@plant-store/contract/cases/valid.json' with { type: 'json' }
import { describe, expect, test, vi } from 'vitest'
import { createRequestId, startTimer } from '../src/host.ts'
import {
  createPlantStoreClient,
  isPlantStoreError,
  type NewPlantInput,
  type PlantStoreClientOptions,
  type PlantStoreEvent,
} from '../src/index.ts'
import { isTransientStatus, parseRetryAfter, waitMs } from '../src/retry.ts'
import {
  breakOff,
  createFakeClient,
  createSeededRandom,
  delay,
  FERN,
  given,
  hang,
  lose,
  page,
  type Responder,
  refuse,
  refuseConnection,
  respondFern,
  respondJson,
  run,
  runUntilDone,
  START_OF_TIME,
  stopClocks,
  tooMany,
} from './fakes.ts'

describe('the plant', () => {
  test('is sent unchanged, whatever the contract takes for one, without other members', async () => {
    class Fern {
      readonly id = 7n
      readonly self = this
      readonly water = () => 'watered'
      readonly kind = Symbol('fern')
      get name() {
        return 'Fern'
      }
    }
    const { createPlant, sent } = createFakeClient(({ body }) => {
      const { name, tag } = JSON.parse(body)
      return respondJson(200, { name, tag })()
    })
    const plants = validCases.map(({ plant }) => ({ ...plant, id: BigInt(plant.id) }))
    for (const plant of [...plants, new Fern()]) await createPlant(plant)
    const arrived = sent.map(({ body }) => {
      const plant = decodeJson(Buffer.from(body)) as NewPlantInput
      return { ...plant, id: BigInt(plant.id) }
    })
    expect(arrived).toStrictEqual([...plants, { id: 7n, name: 'Fern' }])
  })

  test('is refused in the words of the contract before anything is sent', async () => {
    const { sent, tryCreatePlant } = createFakeClient(respondFern)
    const refused = invalidCases.filter(({ error }) => error === 'invalid_plant')
    expect(refused.length).toBeGreaterThan(90)
    let advised = 0
    for (const { body = '', message = '' } of refused) {
      const plant = decodeJson(Buffer.from(body)) as NewPlantInput
      const { id } = Object(plant)
      const isInexact = Number.isInteger(id) && !Number.isSafeInteger(id)
      const advice = 'give a bigint, since a number beyond 2^53 has lost digits already; '
      const said = `nothing was sent: ${isInexact ? advice : ''}${message}`
      const result = await tryCreatePlant(plant)
      expect(result).toMatchObject({
        ok: false,
        error: { message: said, applied: 'no', attempts: 0 },
      })
      if (isInexact) advised++
    }
    expect(advised).toBeGreaterThan(0)
    expect(sent).toEqual([])
  })

  test('has an issue for each problem, and may be one that cannot even be read', async () => {
    const { createPlant } = createFakeClient(respondFern)
    const issues = [{ path: ['id'] }, { path: ['name'], message: 'is required' }]
    const code = 'invalid_plant'
    const half = createPlant({ id: 1.5 } as NewPlantInput)
    await expect(half).rejects.toMatchObject({ code, applied: 'no', attempts: 0, issues })
    const locked = {
      id: 7,
      get name(): string {
        throw new Error('locked')
      },
    }
    await expect(createPlant(locked)).rejects.toThrow('nothing was sent: body: could not be read')
  })
})

test('a status may pass, or stays what it is', () => {
  const every = Array.from({ length: 600 }, (_, status) => status)
  expect(every.filter(isTransientStatus)).toEqual([408, 425, 429, 500, 502, 503, 504])
})

describe('a Retry-After', () => {
  const NOW = Date.UTC(1994, 10, 6, 8, 49, 37)

  test.each<[string | null, number | undefined]>([
    ['0', 0],
    ['120', 120_000],
    [' 5 ', 5_000],
    ['1.5', 1_500],
    ['2, 2', 2_000],
    ['2 ,7,3', 7_000],
    ['2, soon', undefined],
    ['2,', undefined],
    ['99999999999999999999', 1e23],
    ['Sun, 06 Nov 1994 08:49:39 GMT', 2_000],
    ['Sunday, 06-Nov-94 08:49:39 GMT', 2_000],
    ['Sun Nov  6 08:49:39 1994', 2_000],
    ['sun, 06 nov 1994 08:49:39 gmt', 2_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sat, 05 Nov 1994 08:49:37 GMT', 0],
    [null, undefined],
    ['', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['5s', undefined],
    ['2030', 2_030_000],
    ['1994-11-06T08:49:39Z', undefined],
    ['Sun, 99 Nov 1994 08:49:39 GMT', undefined],
    ['Infinity', undefined],
  ])('of %o asks for %o ms', (value, expected) => {
    expect(parseRetryAfter(value, NOW)).toBe(expected)
  })

  test.each([
    ["by the server's clock where the response has a date", { date: new Date(5e6).toUTCString() }],
    ['by its own where not', {}],
  ])('with a date is read %s', async (_what, headers: { date?: string }) => {
    const now = headers.date === undefined ? START_OF_TIME : 5e6
    const after = { 'retry-after': new Date(now + 3_000).toUTCString(), ...headers }
    const { error } = await run(refuse(50300, after), { maxRetries: 0 })
    expect(error).toMatchObject({ retryAfterMs: 3_000 })
  })
})

describe('the wait for a retry', () => {
  test.each<[retryAfterMs: number | undefined, retries: number, least: number, most: number]>([
    [undefined, 0, 0, 250],
    [undefined, 1, 0, 500],
    [undefined, 4, 0, 4_000],
    [undefined, 5, 0, 8_000],
    [undefined, 2_000, 0, 8_000],
    [0, 0, 0, 250],
    [2_000, 3, 2_000, 2_200],
  ])('with Retry-After %o, after %i, is from %i to %i ms', (retryAfterMs, retries, least, most) => {
    for (const [random, expected] of [
      [0, least],
      [0.5, (least + most) / 2],
      [1, most],
    ] as const) {
      stopClocks(() => random)
      expect(waitMs(retryAfterMs, retries)).toBeCloseTo(expected)
    }
  })

  test.each<[string, Responder, PlantStoreClientOptions, number[]]>([
    ['doubles', refuse(50300), {}, [4, 875]],
    ['is none where there are no retries', refuse(50300), { maxRetries: 0 }, [1, 0]],
    ['is none for what stays', refuse(40300), {}, [1, 0]],
    ['is that of Retry-After', tooMany(2), { maxRetries: 1 }, [2, 2_100]],
    ['is that of 30 s', tooMany(30), { maxRetries: 1 }, [2, 31_500]],
    ['is none where Retry-After is longer', tooMany(31), {}, [1, 0]],
    ['fits into the whole time', refuse(50300), { maxRetries: 1, totalTimeoutMs: 130 }, [2, 125]],
    ['is none where it does not fit', refuse(50300), { totalTimeoutMs: 125 }, [1, 0]],
    ['needs no end of time', refuse(50300), { totalTimeoutMs: Infinity }, [4, 875]],
  ])('%s', async (_what, respond, options, [requests, waitedMs = 0]) => {
    const { sent, lastedMs } = await run(respond, options)
    expect(sent).toHaveLength(requests ?? 0)
    // Each of up to three timers ends at most 1 ms later than it was set to.
    expect(lastedMs - waitedMs).toBeLessThanOrEqual(3)
    expect(lastedMs).toBeGreaterThanOrEqual(waitedMs)
  })
})

describe('a call', () => {
  test('asks for no token and sends nothing where it was aborted before', async () => {
    const token = vi.fn()
    const signal = AbortSignal.abort('gone')
    const { sent, error, meta } = await run(respondFern, { token }, { signal })
    expect(error).toMatchObject({ code: 'aborted', cause: 'gone' })
    expect(meta).toEqual({ attempts: 0, durationMs: expect.any(Number) })
    expect([token.mock.calls, sent]).toEqual([[], []])
  })

  test('reports its last status, its attempts, its time, and the headers of the plant', async () => {
    const stored = respondJson(200, { name: 'Fern' }, { 'x-a': '1' })
    const { meta } = await run([refuse(50300, { 'retry-after': '2' }), stored])
    expect(meta).toMatchObject({ status: 200, attempts: 2 })
    expect([Math.floor(meta.durationMs), meta.headers?.get('x-a')]).toEqual([2_101, '1'])
    const { meta: lost } = await run([refuse(50300), lose], { maxRetries: 1 })
    expect([lost.attempts, lost.status, lost.headers]).toEqual([2, undefined, undefined])
  })

  test.each([
    ['of.a-proxy_1', 'of.a-proxy_1'],
    ['', 'own'],
    ['a b', 'own'],
    ['x'.repeat(129), 'own'],
  ])('is known by the id of the response where that is one: %s', async (id, requestId) => {
    const respond = refuse(40003, { 'x-request-id': id })
    expect((await run(respond, {}, { requestId: 'own' })).error).toMatchObject({ requestId })
  })

  test.each([
    ['has a fresh time for each attempt', 3, 'attempt_timeout', 10_000, 4 * 10_001 + 878],
    ['ends with its whole time in the middle of one', 20, 'total_timeout', 60_000, 60_001],
  ])('%s', async (_what, maxRetries, code, timeoutMs, ms) => {
    const { error, lastedMs } = await run(hang, { maxRetries })
    expect(error).toMatchObject({ code, timeoutMs, applied: 'maybe' })
    expect(lastedMs).toBe(ms)
  })

  test('sends nothing once its time is over, as after a wait that took too long', async () => {
    const onEvent = ({ type }: PlantStoreEvent) => {
      if (type === 'retry') vi.advanceTimersByTime(10)
    }
    const { sent, error } = await run(refuse(50300), { totalTimeoutMs: 130, onEvent })
    expect(error).toMatchObject({ code: 'total_timeout', attempts: 1 })
    expect(sent).toHaveLength(1)
  })

  test('ends at once where fetch does not heed its signal', async () => {
    const controller = new AbortController()
    const cancel = vi.fn()
    const fetch = async () => new Response(new ReadableStream({ cancel }))
    const { tryCreatePlant } = createFakeClient(hang, { fetch })
    const call = tryCreatePlant(FERN, { signal: controller.signal })
    await new Promise(setImmediate)
    controller.abort()
    expect(await call).toMatchObject({ ok: false, error: { code: 'aborted', applied: 'maybe' } })
    expect(cancel).toHaveBeenCalled()
  })

  test.each([undefined, null, 5, {}, { status: 200 }, { status: 200, headers: 5 }, 'gone'])(
    'ends with an error of the client where fetch gives %o',
    async (value) => {
      const fetch = (async () => value) as unknown as typeof globalThis.fetch
      const { error } = await run(hang, { fetch })
      expect(error).toMatchObject({ applied: 'maybe' })
    },
  )

  /** Such as that of jsdom, in front of the fetch of Node.js. */
  class Polyfill {
    readonly signal = Object.assign(new EventTarget(), { aborted: false, throwIfAborted() {} })
    abort() {}
  }

  test.each([
    ['no fetch', 'fetch', undefined, 0],
    ['a fetch that takes no signal of its', 'AbortController', Polyfill, 1],
  ])('fails at once where the runtime has %s', async (_what, name, value, attempts) => {
    vi.stubGlobal(name, value)
    const result = await createPlantStoreClient(given).tryCreatePlant(FERN)
    vi.unstubAllGlobals()
    const error = { code: 'invalid_option', option: 'fetch', applied: 'no', retryable: false }
    expect(result).toMatchObject({ ok: false, error: { ...error, attempts } })
  })
})

test('300 calls at a time have one listener on the signal, and none in the end', async () => {
  const { signal } = new AbortController()
  const { createPlant } = createFakeClient(() => delay(5).then(respondFern))
  const calls = Array.from({ length: 300 }, (_, id) =>
    createPlant({ id, name: 'Fern' }, { signal }),
  )
  await new Promise(setImmediate)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  await Promise.all(calls)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

test('a timer never ends too early', async () => {
  for (let ms = 1; ms < 8; ms++) {
    const begin = performance.now()
    await new Promise<void>((resolve) => void startTimer(resolve, ms))
    expect(performance.now() - begin).toBeGreaterThanOrEqual(ms)
  }
})

test.each([false, true])('an id is a UUID of its own, on a page without TLS too: %s', (isPage) => {
  // Such a page has no crypto.randomUUID.
  const getRandomValues = crypto.getRandomValues.bind(crypto)
  if (isPage) vi.stubGlobal('crypto', { getRandomValues })
  const ids = Array.from({ length: 1_000 }, createRequestId)
  vi.unstubAllGlobals()
  expect(new Set(ids).size).toBe(1_000)
  const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
  expect(ids.filter((id) => !uuid.test(id))).toEqual([])
})

test('no schedule of faults makes a call pass its time, 1,000 times', async () => {
  const misfortune = async (random: () => number): Promise<Response> => {
    const kind = Math.floor(random() * 8)
    if (kind < 7) await delay(random() * 2_000 * (random() < 0.2 ? 10 : 1))
    const retryAfter = { 'retry-after': String(Math.floor(random() * 5)) }
    const kinds: readonly Responder[] = [
      ...[respondFern, refuseConnection, lose, page(502), refuse(50300, retryAfter)],
      ...[tooMany(random() * 5), breakOff('{"name":', {}, () => delay(random() * 8_000)), hang],
    ]
    return (kinds[kind] as () => Response)()
  }
  let latest = Number.NEGATIVE_INFINITY
  for (let seed = 0; seed < 1_000; seed++) {
    const random = createSeededRandom(seed)
    stopClocks(random)
    const totalTimeoutMs = (0.5 + random() * 3) * 2_000
    const token = async () => {
      await delay(random() * 2_000 * (random() < 0.1 ? 10 : 0.2))
      return 'token'
    }
    const limits = { totalTimeoutMs, timeoutMs: 2_000 * random() + 1, maxRetries: 20, token }
    const { tryCreatePlant } = createFakeClient(() => misfortune(random), limits)
    const begin = performance.now()
    const result = await runUntilDone(tryCreatePlant(FERN))
    latest = Math.max(latest, performance.now() - begin - totalTimeoutMs)
    if (!result.ok) expect(isPlantStoreError(result.error)).toBe(true)
  }
  // A timer is set to end up to 2 ms late.
  expect(latest).toBeLessThanOrEqual(2)
  expect(latest).toBeGreaterThan(-1)
})
