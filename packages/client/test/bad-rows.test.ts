import { describe, expect, test } from 'vitest'
import { ferns, runBulk } from './bulk-run.ts'
import { fetchFailed, replyFern, replyJson } from './fake-fetch.ts'

/** The clock of a run begins here, in ms. */
const BEGIN = 1_000

type Failing = () => Response | Promise<Response>

const failures: readonly [what: string, fail: Failing, code: string][] = [
  ['a reset', () => Promise.reject(fetchFailed('ECONNRESET', 'read')), 'connection_lost'],
  ['a 502 page', () => new Response('<html>', { status: 502 }), 'unexpected_response'],
  ['a 503 page', () => new Response('<html>', { status: 503 }), 'unexpected_response'],
  ['silence', () => new Promise<never>(() => {}), 'attempt_timeout'],
]

const sources: readonly [what: string, rows: number, isBad: (row: number) => boolean][] = [
  ['one row of 100', 2_000, (row) => row % 100 === 50],
  ['two rows', 2_000, (row) => row === 100 || row === 200],
  ['two rows beside each other', 2_000, (row) => row === 100 || row === 101],
  ['the first row', 300, (row) => row === 0],
  ['the last row', 300, (row) => row === 299],
  ['a bulk of one', 1, (row) => row === 0],
]

/** Bad rows meet this failure at once, every other row is stored. */
async function runWith(
  fail: Failing,
  rows: number,
  isBad: (row: number) => boolean,
  more = {},
  refuse: (id: number) => Response | false = () => false,
) {
  const options = { timeoutMs: 800, ...more }
  const run = await runBulk({
    reply: (id) => (isBad(id) ? fail() : refuse(id) || replyFern()),
    source: ferns(rows),
    options,
  })
  const bad = run.results.filter(({ ok }) => !ok)
  expect(run.thrown).toBeUndefined()
  expect(run.results).toHaveLength(rows)
  expect(bad.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: rows }, (_, row) => row).filter(isBad),
  )
  return { ...run, bad }
}

describe.each(failures)('a row that only it meets %s', (_what, fail, code) => {
  test.each(sources)('is told as a result, where it is %s', async (_where, rows, isBad) => {
    const { bad, runtime } = await runWith(fail, rows, isBad)
    for (const result of bad) {
      expect(result).toMatchObject({ error: { code, applied: 'maybe', attempts: 3 } })
    }
    expect(runtime.now() - BEGIN).toBeLessThanOrEqual(15_000)
  })

  test.each([1, 2])('is told where %i are sent at once', async (concurrency) => {
    await runWith(fail, 300, (row) => row % 100 === 50, { concurrency, maxRetries: 0 })
  })
})

test('a row that the server alone always is too busy for is told after maxOutageMs, and others are stored', async () => {
  const busy = () => replyJson(503, { error: 50300, message: 'full' })
  const isBad = (row: number) => row === 50 || row === 60
  const { bad, runtime } = await runWith(busy, 300, isBad, { maxOutageMs: 5_000 })
  expect(bad).toMatchObject(Array(2).fill({ error: { code: 'server_error', apiCode: 50300 } }))
  expect(runtime.now() - BEGIN).toBeLessThanOrEqual(15_000)
})

test('rows that no server takes end the loop after 20, though what is no plant is answered', async () => {
  const reply = () => Promise.reject(fetchFailed('ECONNRESET', 'read'))
  const { thrown, results } = await runBulk({
    reply: (id) => (Number.isNaN(id) ? replyJson(400, { error: 40002, message: '' }) : reply()),
    source: ferns(200),
  })
  expect(thrown).toMatchObject({ code: 'connection_lost' })
  expect(results.length).toBeGreaterThanOrEqual(20)
  expect(results.length).toBeLessThan(36)
})

test('a plant that is sent again to find the server is the one that was stored', async () => {
  const sent: string[] = []
  const { results } = await runBulk({
    reply(id, _runtime, attempt) {
      sent.push(`${id}`)
      return attempt === 3 ? Promise.reject(fetchFailed('ECONNRESET', 'read')) : replyFern()
    },
    source: ferns(4),
    options: { concurrency: 1 },
  })
  expect(results.every(({ ok }) => ok)).toBe(true)
  expect(sent).toEqual(['0', '1', '2', '1', '2', '3'])
})

test('a row whose first request was lost stays in doubt, whatever a later one says', async () => {
  let sent = 0
  const { results } = await runBulk({
    reply(id) {
      if (id !== 1) return replyFern()
      if (++sent === 1) return Promise.reject(fetchFailed('ECONNRESET', 'read'))
      return replyJson(400, { error: 40002, message: 'no' })
    },
    source: ferns(3),
  })
  const failed = results.filter(({ ok }) => !ok)
  expect(failed).toMatchObject([{ index: 1, error: { code: 'invalid_plant', attempts: 2 } }])
  expect(failed).toMatchObject([{ error: { applied: 'maybe' }, meta: { attempts: 2 } }])
})

test('a row that a busy server refuses beside one that is bad is sent again until it is stored', async () => {
  let busy = 0
  const { bad } = await runWith(
    () => Promise.reject(fetchFailed('ECONNRESET', 'read')),
    40,
    (row) => row === 1,
    { concurrency: 2 },
    (id) => id === 2 && ++busy < 9 && replyJson(503, { error: 50300, message: 'full' }),
  )
  expect([bad.length, busy]).toEqual([1, 9])
})
