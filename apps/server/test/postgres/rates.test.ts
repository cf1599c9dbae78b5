import { beforeAll, describe, expect, test } from 'vitest'
import type { SpendRates } from '../../src/store/store.ts'
import type { TestClient } from '../clients.ts'
import { clientOf, type PreparedDatabase, prepareDatabase, serve } from './served-database.ts'
import { openSession } from './sessions.ts'
import { openStoreAt, usePostgres } from './use-postgres.ts'

const HOUR_NS = 3_600_000_000_000
/** A busy machine may take longer than the second that is usual. */
const POLL = { timeout: 10_000 }

/** What a server logs while the rates do not answer in time. */
const ALONE = 'the rate of tokens is counted by this server alone'

const hourly = { unitNs: HOUR_NS, burst: 100 }

const postgres = usePostgres()
let database: PreparedDatabase

beforeAll(async () => {
  database = await prepareDatabase(await postgres.createDatabase())
})

async function openRates({ databaseUrl } = database): Promise<SpendRates> {
  const store = await openStoreAt(databaseUrl, 1)
  return store.spendRates as SpendRates
}

function change(text: string) {
  return postgres.query(database.databaseUrl, text)
}

describe('rates that several servers spend', () => {
  test('grant each key its burst and no more, however they race', async () => {
    const several = await Promise.all([openRates(), openRates(), openRates()])
    const keys = ['a', 'b', 'c', 'd', 'e']
    const granted = new Map<string, number>()
    const race = async (spendRates: SpendRates, server: number) => {
      for (let round = 0; round < 40; round++) {
        // Each asks in an order of its own.
        const order = [...keys.slice((round + server) % 5), ...keys.slice(0, (round + server) % 5)]
        const spent = await spendRates(new Map(order.map((key) => [key, 3])), hourly)
        for (const [key, units] of spent) {
          granted.set(key, (granted.get(key) ?? 0) + units.granted)
        }
      }
    }
    await Promise.all(several.flatMap((rates, index) => [race(rates, index), race(rates, index)]))
    expect(Object.fromEntries(granted)).toEqual(Object.fromEntries(keys.map((key) => [key, 100])))
  })

  test('grant what is left where less is left than is asked for, and say when it grows back', async () => {
    const spendRates = await openRates()
    const spend = async (units: number) =>
      (await spendRates(new Map([['rest', units]]), hourly)).get('rest')
    expect(await spend(70)).toEqual({ granted: 70, fullInNs: 70 * HOUR_NS })
    const rest = await spend(70)
    expect(rest?.granted).toBe(30)
    expect(rest?.fullInNs).toBeGreaterThan(99.9 * HOUR_NS)
    expect(rest?.fullInNs).toBeLessThanOrEqual(100 * HOUR_NS)
    expect(await spend(1)).toMatchObject({ granted: 0 })
    const units = 2
    const elapsedNs = units * HOUR_NS
    await change(`UPDATE token_rates SET full_at_ns = full_at_ns - ${elapsedNs} WHERE granted = 0`)
    expect(await spend(70)).toMatchObject({ granted: units })
  })

  test('grant no more than a burst at once, nor less for ever when a clock is set back', async () => {
    const spendRates = await openRates()
    const spend = async (limit = hourly) =>
      (await spendRates(new Map([['clock', 1_000]]), limit)).get('clock')
    expect(await spend()).toMatchObject({ granted: 100 })
    await change('UPDATE token_rates SET full_at_ns = 9223372036854775807')
    const fast = { unitNs: 1_000, burst: 100 }
    expect(await spend(fast)).toMatchObject({ granted: 0 })
    await expect.poll(() => spend(fast), POLL).toMatchObject({ granted: 100 })
  })

  test('are forgotten once they are full, and are kept while they are not', async () => {
    await change('DELETE FROM token_rates')
    const used = await openRates()
    await used(new Map([['full', 5]]), { unitNs: 1, burst: 5 })
    await used(new Map([['spent', 5]]), hourly)
    const another = await openRates()
    await another(new Map([['new', 5]]), hourly)
    const count = 'SELECT count(*)::int AS count FROM token_rates'
    await expect.poll(() => change(count), POLL).toEqual([{ count: 2 }])
    expect(await another(new Map([['spent', 100]]), hourly)).toEqual(
      new Map([['spent', { granted: 95, fullInNs: expect.any(Number) }]]),
    )
  })

  test('are of any text: with NUL, a lone surrogate, or longer than an index takes', async () => {
    const spendRates = await openRates()
    const odd = ['', 'a\0b', '\ud800', 'x'.repeat(10_000), "'; DROP TABLE plants; --"]
    const spent = await spendRates(new Map(odd.map((key) => [key, 1])), hourly)
    expect([...spent.keys()].toSorted()).toEqual(odd.toSorted())
  })
})

describe('two servers with a limit of one request a second in a window of 40', () => {
  const environment = {
    PLANT_STORE_RATE_LIMIT: '1',
    PLANT_STORE_RATE_WINDOW_SECONDS: '40',
    PLANT_STORE_LOG_LEVEL: 'warn',
  }

  async function serveTwo() {
    const own = await prepareDatabase(await postgres.createDatabase())
    const servers = await Promise.all([1, 2].map(() => serve(own, { environment })))
    return { own, servers, clients: servers.map(({ url }) => clientOf(url, own.token)) }
  }

  async function statusOf(client: TestClient, id: number): Promise<number> {
    return (await client.rest.createPlant({ body: { id, name: 'Fern' } })).status
  }

  /** The statuses of 100 requests at once to two new servers. */
  async function sendHundred() {
    const { clients, servers } = await serveTwo()
    const since = performance.now()
    const statuses = await Promise.all(
      Array.from({ length: 100 }, (_, id) => statusOf(clients[id % 2] as TestClient, id)),
    )
    const elapsedSeconds = (performance.now() - since) / 1_000
    const isTogether = servers.every((server) => !server.output().includes(ALONE))
    return { statuses, elapsedSeconds, isTogether }
  }

  test('let 40 of 100 through together, and what grew back meanwhile', async () => {
    let hundred = await sendHundred()
    // On a machine that is busy the rates may answer later than a server waits for them.
    while (!hundred.isTogether) hundred = await sendHundred()
    const { statuses, elapsedSeconds } = hundred
    const stored = statuses.filter((status) => status === 200)
    expect(statuses.filter((status) => status === 429)).toHaveLength(100 - stored.length)
    expect(stored.length).toBeGreaterThanOrEqual(40)
    expect(stored.length).toBeLessThanOrEqual(40 + Math.ceil(elapsedSeconds))
  })

  test('count each for itself while the rates do not answer, say so, and store plants', async () => {
    const { own, servers, clients } = await serveTwo()
    const client = clients[0] as TestClient
    expect(await statusOf(client, 1)).toBe(200)
    const session = await openSession(own.databaseUrl)
    await session.query('BEGIN')
    await session.query('LOCK TABLE token_rates IN ACCESS EXCLUSIVE MODE')
    const since = performance.now()
    for (let id = 2; id <= 10; id++) expect(await statusOf(client, id)).toBe(200)
    expect(performance.now() - since).toBeLessThan(10_000)
    const statuses = await Promise.all(
      Array.from({ length: 60 }, (_, index) => statusOf(client, 100 + index)),
    )
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    await session.end()
    await expect.poll(() => statusOf(clients[1] as TestClient, 11), POLL).toBe(200)
    process.kill(servers[0]?.pid as number, 'SIGTERM')
    const { err } = (await servers[0]?.ended) ?? { err: '' }
    expect(err).toContain(ALONE)
  })
})
