import { describe, expect, test } from 'vitest'
import type { CreatePlantsOptions } from '../src/index.ts'
import { ferns, runBulk, runToEnd, type Script, upTo } from './bulk-run.ts'
import {
  breakOff,
  createSeededRandom,
  delay,
  hang,
  lose,
  page,
  refuse,
  refuseConnection,
  respondFern,
  tooMany,
} from './fakes.ts'

type Failing = () => Response | Promise<Response>

/** A server that fails every request from one time to another, in ms. */
function failBetween(from: number, to: number, fail: Failing) {
  return (_id: number, at: number) => (at >= from && at < to ? fail() : respondFern())
}

describe('a bulk outlives an outage: every plant is stored, whatever its own time and retries', () => {
  describe.each<[string, Failing]>([
    ['connections are refused', refuseConnection],
    ['connections break', lose],
    ['nothing is answered', hang],
    ['503', refuse(50300)],
    ['503 with Retry-After', refuse(50300, { 'retry-after': '2' })],
    ['the 502 of a proxy', page(502)],
    ['the 503 of a proxy', page(503)],
    ['the 504 of a proxy', page(504)],
    ['429', tooMany(3)],
    ['a response that breaks off', breakOff()],
  ])('where %s', (_what, fail) => {
    test.each<CreatePlantsOptions>([
      {},
      { concurrency: 1 },
      { concurrency: 64, maxRetries: 20 },
      { maxRetries: 0, timeoutMs: 400, totalTimeoutMs: 300 },
    ])('with %j', async (options) => {
      for (const ms of [50, 3_000, 120_000]) {
        await runToEnd({ respond: failBetween(25, 25 + ms, fail), rows: 100, ...options })
      }
    })
  })

  test('by one request at a time, the first at once, and then more and more rarely', async () => {
    const respond = failBetween(25, 60_025, refuseConnection)
    const { sent } = await runToEnd({ respond, rows: 200 })
    const times = sent.map(({ at }) => at).filter((at) => at > 40 && at < 60_000)
    expect(times.length).toBeGreaterThan(15)
    expect(times.length).toBeLessThan(60)
    expect(new Set(times).size).toBe(times.length)
    const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0) - 10)
    // By the clocks of the tests a wait is half of what it may be.
    expect(Math.max(...waits)).toBeLessThanOrEqual(2_001)
    expect(waits[0]).toBeLessThanOrEqual(250)
  })

  test('where a plant that is sent again to find the server is the one that was stored', async () => {
    const respond: Script['respond'] = (_id, _at, n) => (n === 3 ? lose() : respondFern())
    const { sent } = await runToEnd({ respond, rows: 5, concurrency: 1 })
    expect(sent.map(({ id }) => id)).toEqual([0, 1, 2, 1, 2, 3, 4])
  })
})

test.each<[number, Failing]>([
  [2, tooMany(2)],
  [100, tooMany(100)],
  [2, page(503, '', { 'retry-after': '2' })],
])('a Retry-After of %i s pauses all, never longer than 10 % more', async (seconds, ask) => {
  const respond: Script['respond'] = (id, _at, n) => (id === 0 && n < 17 ? ask() : respondFern())
  const { sent } = await runToEnd({ respond })
  const after = sent.slice(16).map(({ at }) => at - 10)
  expect(Math.min(...after)).toBeGreaterThanOrEqual(seconds * 1_000)
  expect(Math.min(...after)).toBeLessThanOrEqual(seconds * 1_100 + 2)
  // One more asks whether the pause is over.
  expect(sent).toHaveLength(42)
})

test('the longest of several Retry-After holds all', async () => {
  const respond: Script['respond'] = (id, _at, n) =>
    n > 3 ? respondFern() : delay(id * 400).then(tooMany(id === 1 ? 3 : 1))
  const { sent } = await runToEnd({ respond, rows: 3 })
  expect(sent.slice(3).map(({ at }) => at >= 3_410)).toEqual(Array(4).fill(true))
})

describe('an outage that lasts too long', () => {
  test.each([0, 0.1, 30, 300])('ends the loop after %f s, and loses no word', async (seconds) => {
    const maxOutageMs = seconds * 1_000
    // The last response to what was sent before comes late.
    const lateMs = (id: number) => (id === 0 ? Math.min(seconds * 500, 5_000) : 0)
    const respond = (id: number, at: number) =>
      id < 8 && at < 20 ? delay(lateMs(id)).then(respondFern) : lose()
    const run = await runBulk({ respond, rows: 200, maxOutageMs })
    expect(run.thrown).toMatchObject({ code: 'connection_lost', reason: 'ECONNRESET' })
    expect(Math.abs(run.lastedMs - 20 - maxOutageMs)).toBeLessThanOrEqual(10)
    // Eight were lost on their way, and as many were read and never sent.
    expect([run.indexes, run.failed.length]).toEqual([upTo(24), 16])
    const lost = { code: 'connection_lost', applied: 'maybe' }
    const unsent = { code: 'aborted', applied: 'no', attempts: 0, cause: run.thrown }
    const errors = run.failed.map(({ index }) => ({ error: index < 16 ? lost : unsent }))
    expect(run.failed).toMatchObject(errors)
  })

  test('ends it at once where the server asks to wait longer', async () => {
    const run = await runBulk({ respond: tooMany(31), maxOutageMs: 30_000 })
    expect(run.thrown).toMatchObject({ code: 'rate_limited', retryAfterMs: 31_000 })
    expect([run.results.length, run.sent.length, run.lastedMs]).toEqual([16, 16, 10])
  })

  test('ends it where only a stored plant, or no plant, gets past it, as with a full disk', async () => {
    const respond = (id: number) => (id === 0 ? respondFern() : refuse(50300)())
    const source = ferns(90).map((fern) => (fern.id > 1 ? { ...fern, id: 0.5 } : fern))
    const script = { respond, source, concurrency: 2, onResult: () => delay(1_000) }
    const run = await runBulk({ ...script, maxOutageMs: 30_000 })
    expect(run.thrown).toMatchObject({ apiCode: 50300, applied: 'maybe' })
    expect(Math.floor(run.lastedMs / 10_000)).toBe(3)
  })

  test('is counted anew after each response, also where it comes after a 429', async () => {
    const counts: Record<number, number> = {}
    const respond = (_id: number, at: number) => {
      const second = Math.floor(at / 1_000)
      counts[second] = (counts[second] ?? 0) + 1
      return counts[second] > 10 ? tooMany(1)() : delay(20).then(respondFern)
    }
    const { lastedMs } = await runToEnd({ respond, rows: 300, maxOutageMs: 12_000 })
    expect(lastedMs).toBeGreaterThan(20_000)
  })

  test('is none where several are short', async () => {
    const ask = tooMany(1)
    const respond: Script['respond'] = (_id, _at, n) => (n % 3 === 1 ? ask() : respondFern())
    const script = { respond, rows: 3, concurrency: 1, onResult: () => delay(30_000) }
    await runToEnd({ ...script, maxOutageMs: 20_000 })
  })
})

describe.each<[string, Failing, string]>([
  ['a reset', lose, 'connection_lost'],
  ['a 502 page', page(502), 'unexpected_response'],
  ['a 503 page', page(503), 'unexpected_response'],
  ['silence', hang, 'attempt_timeout'],
])('a row that only it meets %s', (_what, fail, code) => {
  test.each<[string, number, (row: number) => boolean, CreatePlantsOptions]>([
    ['it is one of 100', 2_000, (row) => row % 100 === 50, {}],
    ['there are two', 300, (row) => row === 100 || row === 200, {}],
    ['two are beside each other', 300, (row) => row === 100 || row === 101, {}],
    ['it is the last', 300, (row) => row === 299, {}],
    ['it is alone', 1, (row) => row === 0, {}],
    ['one is sent at once', 300, (row) => row % 100 === 50, { concurrency: 1, maxRetries: 0 }],
    ['two are sent at once', 300, (row) => row % 100 === 50, { concurrency: 2 }],
  ])('is told as a result in 15 s, where %s', async (_where, rows, isBad, more) => {
    const respond = (id: number) => (isBad(id) ? fail() : respondFern())
    const run = await runBulk({ respond, rows, timeoutMs: 800, ...more })
    expect([run.thrown, run.indexes]).toEqual([undefined, upTo(rows)])
    const bad = upTo(rows).filter(isBad)
    const error = { code, applied: 'maybe', attempts: 3 }
    expect(run.failed).toMatchObject(bad.map((index) => ({ index, error })))
    expect(run.failed.every(({ meta }) => meta.durationMs > 1_000)).toBe(true)
    expect(run.lastedMs).toBeLessThanOrEqual(15_000)
  })
})

test.each<[string, Script['respond']]>([
  ['no connection', (id, _at, n) => (id === 1 && n < 9 ? refuseConnection() : respondFern())],
  ['the 429 of a proxy', (id, _at, n) => (id === 1 && n < 9 ? page(429)() : respondFern())],
  ['three outages', (_id, _at, n) => (n < 10 && n % 3 !== 1 ? lose() : respondFern())],
])('a row that meets %s again and again is stored', async (_what, respond) => {
  await runToEnd({ respond, rows: 3, concurrency: 1 })
})

test.each(upTo(40))('`applied` and `attempts` are true, at random from %i', async (seed) => {
  const random = createSeededRandom(seed)
  const stored = new Set<number>()
  const respond = async (id: number, at: number) => {
    if (seed % 4 === 1 && random() < 0.01) return refuse(40101)()
    if (seed % 4 === 2 && at > 2_000) return refuseConnection()
    await delay(random() * (random() < 0.1 ? 3_000 : 40))
    if (id % 7 === 3) return refuse(40003)()
    if (random() < 0.02) return tooMany(1)()
    if (random() < 0.9) stored.add(id)
    return stored.has(id) && random() < 0.9 ? respondFern() : lose()
  }
  const script = { respond, rows: 120, concurrency: 1 + (seed % 9), maxOutageMs: 20_000 }
  const { indexes, results, sent, thrown } = await runBulk(script)
  for (const { input, meta, ...result } of results) {
    const attempts = sent.filter(({ id }) => id === input.id).length
    expect(meta.attempts).toBeLessThanOrEqual(attempts)
    const applied = result.ok ? 'yes' : result.error.applied
    expect(applied).not.toBe(stored.has(input.id) ? 'no' : 'yes')
  }
  // Whatever was sent has a result.
  expect(indexes).toEqual(upTo(thrown === undefined ? 120 : results.length))
  expect(sent.filter(({ id }) => id >= results.length)).toEqual([])
})
