import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { startTcpProxy } from '../../../../test/tcp-proxy.ts'
import { runAt } from '../commands/program.ts'
import {
  type PreparedDatabase,
  prepareDatabase,
  readIds,
  readRows,
  serve,
  waitForReadiness,
} from './served-database.ts'
import { type Pair, startPair } from './standby.ts'
import { LONGEST_ANSWER_MS, startStorm } from './storm.ts'
import {
  asServer,
  nameOf,
  newDatabase,
  openSession,
  openStoreAt,
  STORE_SESSIONS,
  stopProcess,
  waitForRow,
} from './use-postgres.ts'

const FAILOVERS = 3

/** How much later than another a standby may be promoted, as by those who watch a primary. */
const MOST_DELAY_MS = 1_500

/** How long after a promotion the next create is answered 200. */
const BACK_WITHIN_MS = 1_000

/** A statement is given up after 4 s. */
const STANDSTILL_MS = 5_000

const WAITING_FOR_STANDBY = `${STORE_SESSIONS} AND wait_event = 'SyncRep'`

const unavailable = { status: 503, body: { error: 50_300 } }

let pair: Pair
let name: string
/** A database of the pair, by a URL that names both servers. */
let database: PreparedDatabase

beforeAll(async () => {
  pair = await startPair()
  const { databaseUrl, token } = await prepareDatabase(await pair.primary.createDatabase())
  name = nameOf(databaseUrl)
  database = { databaseUrl: pair.urlsOf(name)[0], token }
})
beforeEach(() => pair.primary.query(pair.primary.urlOf(name), 'TRUNCATE plants'))
afterEach(() => pair.rejoin())
afterAll(() => pair?.stop())

/** The ids of what the primary of now has. */
function storedIds(): Promise<number[]> {
  return readIds(pair.primary.urlOf(name))
}

test(`${FAILOVERS} failovers under load of two servers, whatever the order in their URLs, lose and misreport nothing`, {
  timeout: 180_000,
}, async () => {
  const urls = pair.urlsOf(name)
  const servers = await Promise.all(urls.map((databaseUrl) => serve({ ...database, databaseUrl })))
  const storm = startStorm(...servers)
  /** When each server has stored one more plant. */
  const nextStored = servers.map(({ client }) => async () => {
    const id = BigInt(-Math.ceil(Math.random() * 2 ** 52))
    while ((await storm.history.send(client, { id, name: `probe ${id}` })) !== 'stored');
    return performance.now()
  })
  for (let failover = 0; failover < FAILOVERS; failover++) {
    await storm.acknowledges(200)
    pair.primary.kill()
    // After the kill, so that nothing is the response to an earlier commit.
    await sleep(100 + Math.random() * MOST_DELAY_MS)
    const stored = Promise.all(nextStored.map((wait) => wait()))
    const promoted = await pair.promote()
    expect(Math.max(...(await stored)) - promoted).toBeLessThan(BACK_WITHIN_MS)
    await pair.rejoin()
  }
  await storm.endAndJudge(pair.primary.urlOf(name))
})

test('each command takes a URL with both servers in any order, and export one of the standby alone', async () => {
  for (const url of pair.urlsOf(name)) {
    for (const command of ['migrate', 'token list', 'export']) {
      expect({ command, ...(await runAt(url, command)) }).toMatchObject({ command, code: 0 })
    }
    const out = expect.stringMatching(/^standby +1 for synchronous_standby_names/m)
    expect(await runAt(url, 'doctor')).toMatchObject({ code: 0, out })
  }
  const insert = "INSERT INTO plants VALUES (9007199254740993, 'Fern', NULL)"
  await pair.primary.query(pair.primary.urlOf(name), insert)
  // A commit waits until the standby has it on its disk, not until it shows it.
  await expect
    .poll(async () => (await runAt(pair.standby.urlOf(name), 'export')).out)
    .toContain('9007199254740993')
})

test('a primary that stands still holds no caller for 10 s, nor a server that is to end, and is left within 5 s of the promotion', async () => {
  const [server, ending] = await Promise.all([serve(database), serve(database)])
  const storm = startStorm(server)
  await storm.acknowledges(200)
  const old = pair.primary
  const observer = await openSession(old.urlOf('postgres'))
  const { rows } = await observer.query('SELECT pid FROM pg_stat_activity')
  const goOn = [old.pid(), ...rows.map(({ pid }) => Number(pid))].map(stopProcess)
  const asked = performance.now()
  const hanging = ending.create(0).catch(() => {})
  await sleep(100)
  expect((await ending.end()).code).toBe(0)
  await hanging
  expect(performance.now() - asked).toBeLessThan(LONGEST_ANSWER_MS)
  const promoted = await pair.promote()
  await storm.acknowledges(100)
  expect(performance.now() - promoted).toBeLessThan(STANDSTILL_MS)
  for (const one of goOn) one()
  await storm.acknowledges(200)
  await pair.primary.query(pair.primary.urlOf(name), 'DELETE FROM plants WHERE id = 0')
  await storm.endAndJudge(pair.primary.urlOf(name))
})

test('a primary that becomes read-only without a cut is left for the one that takes writes', async () => {
  const server = await serve(database)
  expect(await server.create(1)).toMatchObject({ status: 200 })
  const old = pair.primary
  await pair.promote()
  await old.set('default_transaction_read_only', 'on')
  const since = performance.now()
  // The first one, on the connection that was open all the time.
  expect(await server.create(2)).toMatchObject({ status: 200 })
  expect(performance.now() - since).toBeLessThan(2 * BACK_WITHIN_MS)
  await waitForReadiness(server, true)
  expect(await storedIds()).toEqual([1, 2])
})

test('an old primary that comes back before the new one is gone is not used again', async () => {
  const server = await serve(database)
  await server.store(1)
  const old = pair.primary
  old.kill()
  await pair.promote()
  await server.store(2)
  // By hand, alone and without a word to the other: each of the two takes writes now.
  await old.start()
  await old.set('synchronous_standby_names', "''")
  pair.primary.kill()
  await waitForReadiness(server, false)
  expect(await server.create(3)).toMatchObject(unavailable)
  await pair.primary.start()
  await waitForReadiness(server, true)
  await server.store(4)
  expect(await storedIds()).toEqual([1, 2, 4])
})

test('a create that only the standby has when the primary is killed is answered 200', async () => {
  const server = await serve(database)
  const { primary, standby } = pair
  // The commit waits until the standby shows the plant, which it has on its disk before.
  await primary.set('synchronous_commit', 'remote_apply')
  await standby.query(standby.urlOf('postgres'), 'SELECT pg_wal_replay_pause()')
  const response = server.create(1)
  const observer = await openSession(primary.urlOf(name))
  await waitForRow(observer, WAITING_FOR_STANDBY)
  const isOnStandby = 'SELECT FROM pg_stat_replication WHERE flush_lsn >= pg_current_wal_lsn()'
  await waitForRow(observer, isOnStandby)
  primary.kill()
  await pair.promote()
  expect(await response).toMatchObject({ status: 200 })
  expect(await storedIds()).toEqual([1])
})

test('a standby that replays late is promoted, behind one address of both, with all that was answered 200', async () => {
  const { primary, standby } = pair
  const address = await startTcpProxy(primary.port)
  onTestFinished(address.close)
  const databaseUrl = primary
    .urlOf(name)
    .replace(`:${primary.port}/`, `:${new URL(address.url).port}/`)
  const storm = startStorm(await serve({ ...database, databaseUrl }))
  await standby.query(standby.urlOf('postgres'), 'SELECT pg_wal_replay_pause()')
  await storm.acknowledges(500)
  primary.kill()
  await pair.promote()
  address.lead(standby.port)
  await storm.acknowledges(500)
  await storm.endAndJudge(databaseUrl)
})

/** A new database, for a user that may do no more than a create needs, so that it can lock no row. */
async function openLimited(messages: string) {
  const databaseUrl = await newDatabase(pair.primary)
  const name = nameOf(databaseUrl)
  const setting = `ALTER DATABASE ${name} SET client_min_messages = ${messages}`
  await pair.primary.query(databaseUrl, setting)
  const store = await openStoreAt(await asServer(databaseUrl))
  return { store, observer: await openSession(databaseUrl), name }
}

test.each([
  ['pg_terminate_backend', 'notice'],
  ['pg_cancel_backend', 'notice'],
  ['pg_cancel_backend', 'error'],
])(
  'a commit that %s cuts off before the standby has it gets no outcome until it has, with messages from %s on',
  async (cutOff, messages) => {
    const { store, observer, name } = await openLimited(messages)
    await pair.standby.stop({ keepFolder: true })
    const events: string[] = []
    const outcome = store.plants.create({ id: 9007199254740993n, name: 'Fern' }).finally(() => {
      events.push('outcome')
    })
    const { pid, started } = await waitForRow(observer, WAITING_FOR_STANDBY)
    await observer.query(`SELECT ${cutOff}($1)`, [pid])
    const isRepeated = `${WAITING_FOR_STANDBY} AND (pid, query_start::text) <> (${pid}, '${started}')`
    await Promise.race([outcome, waitForRow(observer, isRepeated)])
    events.push('standby started')
    await pair.standby.start()
    expect(await outcome).toBe('already_there')
    expect(events).toEqual(['standby started', 'outcome'])
    const stored = [{ id: 9007199254740993n, name: 'Fern', tag: null }]
    // It has the plant on its disk, and shows it once it has replayed it.
    await expect.poll(() => readRows(pair.standby.urlOf(name))).toEqual(stored)
  },
)

test('the standbys that a commit waits for are counted, as far as the user of a server may see', async () => {
  const { store } = await openLimited('notice')
  const { primary, standby } = pair
  const count = async (names: string) => {
    await primary.set('synchronous_standby_names', `'${names}'`)
    await store.isReady()
    return (await store.measure()).standbys
  }
  expect(await count('standby')).toEqual({ expected: 1, connected: 1, synchronous: 1 })
  expect(await count('')).toEqual({ expected: 0, connected: 1, synchronous: 0 })
  await standby.stop({ keepFolder: true })
  expect(await count('ANY 2 (*)')).toEqual({ expected: 2, connected: 0, synchronous: 0 })
  await standby.start()
  await count('standby')
})

test('without its standby commits get outcome_unknown, what waits for them 503, and both are true when it is back', async () => {
  const server = await serve(database)
  expect(await server.create(1)).toMatchObject({ status: 200 })
  pair.standby.kill()
  onTestFinished(() => pair.standby.start().catch(() => {}))
  // What it was sent before it is gone it may still confirm.
  const observer = await openSession(pair.primary.urlOf(name))
  await waitForRow(observer, 'SELECT WHERE NOT EXISTS (SELECT FROM pg_stat_replication)')
  const asked = performance.now()
  const responses = []
  for (const waiting of [1, 2]) {
    responses.push(server.create(1 + waiting))
    await waitForRow(
      observer,
      `SELECT FROM (${WAITING_FOR_STANDBY}) AS those HAVING count(*) = ${waiting}`,
    )
  }
  responses.push(server.create(4))
  const reason = /no commit goes through.*standby/
  expect(await waitForReadiness(server, false)).toMatch(reason)
  expect(performance.now() - asked).toBeLessThan(STANDSTILL_MS)
  const unknown = { status: 500, body: { error: 50_001 } }
  expect(await Promise.all(responses)).toMatchObject([unknown, unknown, unavailable])
  expect(performance.now() - asked).toBeLessThan(LONGEST_ANSWER_MS)
  expect(await waitForReadiness(server, false, 0)).toMatch(reason)
  await pair.standby.start()
  await waitForReadiness(server, true)
  await server.store(5)
  expect(await storedIds()).toEqual([1, 2, 3, 5])
})
