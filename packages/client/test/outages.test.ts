import { describe, expect, test } from 'vitest'
import type { CreatePlantsOptions, CreatePlantsProgress } from '../src/index.ts'
import { ferns, type Run, runBulk, tooMany } from './bulk-run.ts'
import { fetchFailed, replyFern, replyJson } from './fake-fetch.ts'
import { createSeededRandom, type FakeRuntime } from './fake-runtime.ts'

/** The clock of a run begins here, in ms. */
const BEGIN = 1_000

const refused = (): never => {
  throw fetchFailed('ECONNREFUSED', 'connect')
}
const reset = (): never => {
  throw fetchFailed('ECONNRESET', 'read')
}
const page = (status: number) => () => new Response('<html>', { status })
const hang = () => new Promise<never>(() => {})
type Failing = () => Response | Promise<Response>

/** A server that fails every request from one time to another, in ms. */
function failBetween(from: number, to: number, fail: Failing) {
  return (_id: number, runtime: FakeRuntime) => {
    const at = runtime.now() - BEGIN
    return at >= from && at < to ? fail() : replyFern()
  }
}

function expectAllStored({ results, thrown }: Run, count: number): void {
  expect(thrown).toBeUndefined()
  expect(results.filter(({ ok }) => !ok)).toEqual([])
  expect(results.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: count }, (_, index) => index),
  )
}

describe('a bulk outlives an outage: every plant is stored, whatever its own time and retries', () => {
  const failures: [string, Failing][] = [
    ['connections are refused', refused],
    ['connections break', reset],
    ['nothing is answered', hang],
    ['503', () => replyJson(503, { error: 50300, message: 'full' })],
    [
      '503 with Retry-After',
      () => replyJson(503, { error: 50300, message: 'full' }, { 'retry-after': '2' }),
    ],
    ['the 502 of a proxy', page(502)],
    ['the 503 of a proxy', page(503)],
    ['the 504 of a proxy', page(504)],
    ['429', () => tooMany('3')],
    [
      'a reply that breaks off',
      () => new Response(new ReadableStream({ start: (c) => c.error(new Error('gone')) })),
    ],
  ]
  const lengths = [50, 3_000, 120_000]
  const ways: CreatePlantsOptions[] = [
    {},
    { concurrency: 1 },
    { concurrency: 64, maxRetries: 20 },
    { maxRetries: 0, timeoutMs: 400, totalTimeoutMs: 300 },
  ]

  test.each(
    failures.flatMap(([what, fail]) =>
      lengths.flatMap((ms) => ways.map((options) => [what, ms, options, fail] as const)),
    ),
  )('%s for %i ms, with %j', async (_what, ms, options, fail) => {
    const reply = failBetween(25, 25 + ms, fail)
    expectAllStored(await runBulk({ reply, source: ferns(200), options }), 200)
  })

  test('again and again', async () => {
    const random = createSeededRandom(7)
    const reply = () => (random() < 0.3 ? refused() : replyFern())
    expectAllStored(await runBulk({ reply, source: ferns(500) }), 500)
  })

  test('a Retry-After longer than one call would wait for', async () => {
    const reply = failBetween(0, 90_000, () => tooMany('100'))
    const run = await runBulk({ reply, client: { maxRetryAfterMs: 1_000 } })
    expectAllStored(run, 40)
    expect(run.sent[16]?.at).toBeGreaterThanOrEqual(BEGIN + 100_000)
  })
})

describe('while the server is gone', () => {
  const reply = failBetween(25, 60_025, refused)
  const inOutage = ({ at }: { at: number }) => at > BEGIN + 40 && at < BEGIN + 60_000

  test('one plant at a time is sent, at once, and then more and more rarely', async () => {
    const { sent } = await runBulk({ reply, source: ferns(200) })
    const times = sent.filter(inOutage).map(({ at }) => at)
    expect(times.length).toBeGreaterThan(15)
    expect(times.length).toBeLessThan(60)
    expect(new Set(times).size).toBe(times.length)
    const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0) - 10)
    expect(Math.max(...waits)).toBeLessThanOrEqual(4_000)
    expect(waits[0]).toBeLessThanOrEqual(500)
  })
})

describe('an outage that lasts too long', () => {
  test.each([0.1, 1, 30, 300])('ends the loop after %f s, and loses no word', async (seconds) => {
    const maxOutageMs = seconds * 1_000
    const reply = failBetween(25, Number.POSITIVE_INFINITY, reset)
    const { results, thrown, sent, runtime } = await runBulk({
      reply,
      source: ferns(200),
      options: { maxOutageMs },
    })
    expect(thrown).toMatchObject({ code: 'connection_lost', reason: 'ECONNRESET' })
    const lastedMs = runtime.now() - BEGIN - 30
    expect(lastedMs).toBeGreaterThanOrEqual(maxOutageMs)
    expect(lastedMs).toBeLessThanOrEqual(maxOutageMs + 20)
    const failed = results.filter(({ ok }) => !ok)
    expect(failed).toHaveLength(16)
    for (const result of failed) {
      expect(result).toMatchObject({ error: { code: 'connection_lost', applied: 'maybe' } })
      const own = sent.filter(({ id }) => id === result.input.id)
      expect(result.meta.attempts).toBe(own.length)
    }
    const answered = new Set(results.map(({ input }) => input.id))
    expect(sent.filter(({ id }) => !answered.has(id))).toEqual([])
  })

  test('ends at once where the server asks to wait longer', async () => {
    const { results, thrown, sent, runtime } = await runBulk({
      reply: () => tooMany('31'),
      options: { maxOutageMs: 30_000 },
    })
    expect(thrown).toMatchObject({ code: 'rate_limited', retryAfterMs: 31_000 })
    expect([results.length, sent.length, runtime.now()]).toEqual([16, 16, BEGIN + 10])
  })

  test('is counted anew after each reply', async () => {
    const reply = (_id: number, runtime: FakeRuntime) =>
      (runtime.now() - BEGIN) % 10_000 < 8_000 ? refused() : replyFern()
    const options = { maxOutageMs: 12_000, concurrency: 1 }
    const run = await runBulk({ reply, source: ferns(2_000), options })
    expectAllStored(run, 2_000)
    expect(run.runtime.now()).toBeGreaterThan(BEGIN + 30_000)
  })

  test('gives back the plants that were read and never sent, as such', async () => {
    const isLate = Promise.withResolvers<void>()
    async function* source() {
      yield* ferns(1)
      await isLate.promise
      for (let id = 1; id < 16; id++) yield { id, name: 'Fern' }
    }
    const seen: CreatePlantsProgress[] = []
    const { results, thrown, sent } = await runBulk({
      reply(_id, runtime) {
        if (runtime.now() > BEGIN + 15_000) isLate.resolve()
        return reset()
      },
      source: source(),
      options: { maxOutageMs: 20_000, onProgress: (progress) => void seen.push(progress) },
    })
    const unsent = results.filter(({ meta }) => meta.attempts === 0)
    expect(unsent.length).toBeGreaterThan(5)
    for (const result of unsent) {
      const error = { code: 'aborted', applied: 'no', attempts: 0, cause: thrown }
      expect(result).toMatchObject({ ok: false, error })
      expect(sent.some(({ id }) => id === result.input.id)).toBe(false)
    }
    expect(results).toHaveLength(16)
    expect(thrown).toMatchObject({ code: 'connection_lost' })
    expect(seen.at(-1)).toMatchObject({
      state: { type: 'outage', remainingMs: 0 },
      sent: 16 - unsent.length,
      rejected: 0,
      settledRows: 0,
    })
  })
})

describe('a plant whose connection always breaks', () => {
  const reply = (id: number) => (id === 20 ? reset() : replyFern())

  test.each([2, 16])('fails alone, where %i are sent at once', async (concurrency) => {
    const { results, thrown, runtime } = await runBulk({
      reply,
      source: ferns(200),
      options: { concurrency },
    })
    expect(thrown).toBeUndefined()
    const failed = results.filter(({ ok }) => !ok)
    expect(failed).toMatchObject([
      { index: 20, error: { code: 'connection_lost', applied: 'maybe' } },
    ])
    expect(results).toHaveLength(200)
    expect(runtime.now()).toBeLessThan(BEGIN + 20_000)
  })
})

describe('the listener of the progress', () => {
  async function watch(reply: Parameters<typeof runBulk>[0]['reply'], options = {}) {
    const seen: (CreatePlantsProgress & { readonly at: number })[] = []
    let clock: FakeRuntime | undefined
    const run = await runBulk({
      reply(id, runtime, attempt) {
        clock = runtime
        return reply(id, runtime, attempt)
      },
      source: ferns(2_000),
      options: {
        ...options,
        onProgress: (progress) => void seen.push({ ...progress, at: clock?.now() ?? BEGIN }),
      },
    })
    return { ...run, seen }
  }

  test('hears of an outage, what it is and how long it may last, and of its end', async () => {
    const { seen } = await watch(failBetween(105, 20_105, refused), { maxOutageMs: 60_000 })
    const outage = seen.filter(({ state }) => state.type === 'outage')
    expect(outage[0]?.state).toMatchObject({ cause: { code: 'connection_failed' } })
    const left = outage.map(({ state }) => (state.type === 'outage' ? state.remainingMs : 0))
    expect(left[0]).toBeGreaterThan(59_000)
    expect(left).toEqual(left.toSorted((a, b) => b - a))
    expect(left.at(-1)).toBeLessThan(45_000)
    expect(seen.at(-1)).toMatchObject({
      state: { type: 'running' },
      sent: 2_000,
      stored: 2_000,
      alreadyThere: 0,
      rejected: 0,
      settledRows: 2_000,
    })
  })

  test('hears how long the server asked to wait', async () => {
    const { seen } = await watch((_id, _runtime, attempt) =>
      attempt === 40 ? tooMany('7') : replyFern(),
    )
    const [waiting] = seen.filter(({ state }) => state.type === 'waiting')
    const ms = waiting?.state.type === 'waiting' ? waiting.state.ms : 0
    expect(ms).toBeGreaterThan(6_800)
    expect(ms).toBeLessThanOrEqual(7_700)
  })

  test('is called at most ten times a second, whatever comes', async () => {
    const { seen, runtime } = await watch(() => replyFern())
    const seconds = (runtime.now() - BEGIN) / 1_000
    expect(seen.length).toBeLessThanOrEqual(seconds * 10 + 2)
    expect(seen.length).toBeGreaterThanOrEqual(seconds * 9)
  })

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])('that %s changes nothing', async (_what, onProgress) => {
    expectAllStored(await runBulk({ reply: replyFern, options: { onProgress } }), 40)
  })

  test('hears what was there before, unless it took several requests', async () => {
    const replayed = () => replyJson(200, { name: 'Fern' }, { 'idempotent-replayed': 'true' })
    const tries = new Map<number, number>()
    const { seen } = await watch((id) => {
      const attempt = (tries.get(id) ?? 0) + 1
      tries.set(id, attempt)
      if (id % 10 === 1 && attempt === 1) return reset()
      if (id % 10 === 2) return replyJson(400, { error: 40003, message: 'taken' })
      return id % 2 === 1 ? replayed() : replyFern()
    })
    expect(seen.at(-1)).toMatchObject({
      stored: 1_000,
      alreadyThere: 800,
      rejected: 200,
      settledRows: 2_000,
    })
  })
})
