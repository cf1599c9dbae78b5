import { describe, expect, test } from 'vitest'
import type { CreatePlantsOptions } from '../src/index.ts'
import { ferns, indexesOf, runBulk, runToEnd, type Script, upTo } from './bulk-run.ts'
import {
  breakOff,
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
  const failures: [string, Failing][] = [
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
  ]
  const ways: CreatePlantsOptions[] = [
    {},
    { concurrency: 1 },
    { concurrency: 64, maxRetries: 20 },
    { maxRetries: 0, timeoutMs: 400, totalTimeoutMs: 300 },
  ]

  describe.each(failures)('where %s', (_what, fail) => {
    test.each(ways)('with %j', async (options) => {
      for (const ms of [50, 3_000, 120_000]) {
        await runToEnd({ respond: failBetween(25, 25 + ms, fail), rows: 200, ...options })
      }
    })
  })

  test('a Retry-After longer than one call would wait for', async () => {
    const respond = failBetween(0, 90_000, tooMany(100))
    const { sent } = await runToEnd({ respond })
    expect(sent[16]?.at).toBeGreaterThanOrEqual(100_000)
  })

  test('by one request at a time, the first at once, and then more and more rarely', async () => {
    const respond = failBetween(25, 60_025, refuseConnection)
    const { sent } = await runToEnd({ respond, rows: 200 })
    const times = sent.map(({ at }) => at).filter((at) => at > 40 && at < 60_000)
    expect(times.length).toBeGreaterThan(15)
    expect(times.length).toBeLessThan(60)
    expect(new Set(times).size).toBe(times.length)
    const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0) - 10)
    expect(Math.max(...waits)).toBeLessThanOrEqual(4_001)
    expect(waits[0]).toBeLessThanOrEqual(500)
  })

  test('where a plant that is sent again to find the server is the one that was stored', async () => {
    const respond: Script['respond'] = (_id, _at, attempt) =>
      attempt === 3 ? lose() : respondFern()
    const { sent } = await runToEnd({ respond, rows: 5, concurrency: 1 })
    expect(sent.map(({ id }) => id)).toEqual([0, 1, 2, 1, 2, 3, 4])
  })
})

describe('an outage that lasts too long', () => {
  test.each([0, 0.1, 1, 30, 300])(
    'ends the loop after %f s, and loses no word',
    async (seconds) => {
      const maxOutageMs = seconds * 1_000
      const respond = failBetween(25, Number.POSITIVE_INFINITY, lose)
      const run = await runBulk({ respond, rows: 200, maxOutageMs })
      expect(run.thrown).toMatchObject({ code: 'connection_lost', reason: 'ECONNRESET' })
      expect(run.lastedMs - 30).toBeGreaterThanOrEqual(maxOutageMs)
      expect(run.lastedMs - 30).toBeLessThanOrEqual(maxOutageMs + 20)
      expect(run.failed).toHaveLength(16)
      for (const result of run.failed) {
        const own = run.sent.filter(({ id }) => id === result.input.id)
        const error = { code: 'connection_lost', applied: 'maybe', attempts: own.length }
        expect(result).toMatchObject({ error, meta: { attempts: own.length } })
      }
      const answered = new Set(run.results.map(({ input }) => input.id))
      expect(run.sent.filter(({ id }) => !answered.has(id))).toEqual([])
    },
  )

  test('ends at once where the server asks to wait longer', async () => {
    const run = await runBulk({ respond: tooMany(31), maxOutageMs: 30_000 })
    expect(run.thrown).toMatchObject({ code: 'rate_limited', retryAfterMs: 31_000 })
    expect([run.results.length, run.sent.length, run.lastedMs]).toEqual([16, 16, 10])
  })

  test('is counted anew after each response', async () => {
    const respond = (_id: number, at: number) =>
      at % 10_000 < 8_000 ? refuseConnection() : respondFern()
    const { lastedMs } = await runToEnd({
      respond,
      rows: 2_000,
      maxOutageMs: 12_000,
      concurrency: 1,
    })
    expect(lastedMs).toBeGreaterThan(30_000)
  })

  test('gives back the plants that were read and never sent, as such', async () => {
    const isLate = Promise.withResolvers<void>()
    async function* source() {
      yield* ferns(1)
      await isLate.promise
      for (let id = 1; id < 16; id++) yield { id, name: 'Fern' }
    }
    const { results, thrown, sent } = await runBulk({
      respond(_id, at) {
        if (at > 15_000) isLate.resolve()
        return lose()
      },
      source: source(),
      maxOutageMs: 20_000,
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
    ['there are two', 2_000, (row) => row === 100 || row === 200, {}],
    ['two are beside each other', 2_000, (row) => row === 100 || row === 101, {}],
    ['it is the first', 300, (row) => row === 0, {}],
    ['it is the last', 300, (row) => row === 299, {}],
    ['it is alone', 1, (row) => row === 0, {}],
    ['one is sent at once', 300, (row) => row % 100 === 50, { concurrency: 1, maxRetries: 0 }],
    ['two are sent at once', 300, (row) => row % 100 === 50, { concurrency: 2 }],
  ])('is told as a result in 15 s, where %s', async (_where, rows, isBad, more) => {
    const respond = (id: number) => (isBad(id) ? fail() : respondFern())
    const run = await runBulk({ respond, rows, timeoutMs: 800, ...more })
    expect([run.thrown, run.results.length]).toEqual([undefined, rows])
    expect(indexesOf(run.failed)).toEqual(upTo(rows).filter(isBad))
    const error = { code, applied: 'maybe', attempts: 3 }
    expect(run.failed).toMatchObject(run.failed.map(() => ({ error })))
    expect(run.lastedMs).toBeLessThanOrEqual(15_000)
  })
})

describe('a row', () => {
  test('that the server alone always is too busy for is told after maxOutageMs', async () => {
    const isBad = (id: number) => id === 50 || id === 60
    const respond = (id: number) => (isBad(id) ? refuse(50300)() : respondFern())
    const run = await runBulk({ respond, rows: 300, maxOutageMs: 5_000 })
    const error = { code: 'server_error', apiCode: 50300 }
    expect(run.failed).toMatchObject([{ error }, { error }])
    expect([run.thrown, run.results.length]).toEqual([undefined, 300])
    expect(run.lastedMs).toBeLessThanOrEqual(15_000)
  })

  test('that a busy server refuses beside a bad one is sent again until it is stored', async () => {
    let count = 0
    const respond = (id: number) => {
      if (id === 2 && ++count < 9) return refuse(50300)()
      return id === 1 ? lose() : respondFern()
    }
    const run = await runBulk({ respond, concurrency: 2 })
    expect([indexesOf(run.failed), run.results.length, count]).toEqual([[1], 40, 9])
  })

  test('whose first request was lost stays in doubt, whatever a later one says', async () => {
    let count = 0
    const respond = (id: number) => {
      if (id !== 1) return respondFern()
      return ++count === 1 ? lose() : refuse(40002)()
    }
    const { failed } = await runBulk({ respond, rows: 3 })
    const error = { code: 'invalid_plant', applied: 'maybe', attempts: 2 }
    expect(failed).toMatchObject([{ index: 1, error, meta: { attempts: 2 } }])
  })
})
