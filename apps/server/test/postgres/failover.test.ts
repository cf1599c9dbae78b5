import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { runToEnd } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { createHistory } from './history.ts'
import { type Pair, startPair } from './pair.ts'
import {
  clientOf,
  isReady,
  type PreparedDatabase,
  prepareDatabase,
  readRows,
  serve,
  waitForReadiness,
} from './served-database.ts'
import { LONGEST_ANSWER_MS, NOTHING, startServedStorm } from './served-storm.ts'
import { openSession, STORE_SESSIONS, stopProcess, waitForRow } from './sessions.ts'

const FAILOVERS = 3

/** How much later than another a standby may be promoted, as by those who watch a primary. */
const MOST_DELAY_MS = 1_500

/** How long after a promotion the next create is answered 200. */
const BACK_WITHIN_MS = 1_000

/** A statement is given up after 4 s. */
const STANDSTILL_MS = 5_000

interface PairDatabase extends PreparedDatabase {
  readonly name: string
}

let pair: Pair
let database: PairDatabase

/** A database of the pair, by a URL that names both servers. */
async function preparePair(): Promise<PairDatabase> {
  const { databaseUrl, token } = await prepareDatabase(await pair.primary.createDatabase())
  const name = new URL(databaseUrl).pathname.slice(1)
  return { databaseUrl: pair.urlOf(name), token, name }
}

beforeAll(async () => {
  pair = await startPair()
  database = await preparePair()
}, 60_000)
beforeEach(() => pair.primary.query(pair.primary.urlOf(database.name), 'TRUNCATE plants'))
afterAll(() => pair?.stop(), 60_000)

function rowsOf(name: string) {
  return readRows(pair.primary.urlOf(name))
}

test(`${FAILOVERS} failovers under load of two servers, whatever the order in their URLs, lose and misreport nothing`, {
  timeout: 180_000,
}, async () => {
  const { name } = database
  const urls = [pair.urlOf(name), pair.turnedUrlOf(name)]
  const servers = await Promise.all(urls.map((url) => serve({ ...database, databaseUrl: url })))
  const storm = startServedStorm(servers, database)
  for (let failover = 0; failover < FAILOVERS; failover++) {
    await storm.acknowledges(200)
    pair.primary.kill()
    // After the kill, so that nothing is the response to an earlier commit.
    await sleep(100 + Math.random() * MOST_DELAY_MS)
    const stored = storm.stored()
    const promoted = await pair.promote()
    expect(Math.max(...(await stored)) - promoted).toBeLessThan(BACK_WITHIN_MS)
    await pair.rejoin()
  }
  await storm.endAndJudge(pair.primary.urlOf(name))
})

test('each command takes a URL with both servers in any order, and export one of the standby alone', async () => {
  const { name } = await preparePair()
  const run = (databaseUrl: string, ...args: string[]) =>
    runToEnd({
      folder: temporaryFolder(),
      environment: { PLANT_STORE_DATABASE_URL: databaseUrl },
      args,
    })
  for (const url of [pair.urlOf(name), pair.turnedUrlOf(name)]) {
    for (const command of ['migrate', 'token list', 'export', 'doctor']) {
      const ended = await run(url, ...command.split(' '))
      expect({ command, ...ended }).toMatchObject({ command, code: 0 })
      if (command === 'doctor') {
        expect(ended.out).toMatch(/^standby +1 for synchronous_standby_names/m)
      }
    }
  }
  const insert = "INSERT INTO plants VALUES (9007199254740993, 'Fern', NULL)"
  await pair.primary.query(pair.primary.urlOf(name), insert)
  // A commit waits until the standby has it on its disk, not until it shows it.
  await expect
    .poll(async () => (await run(pair.standby.urlOf(name), 'export')).out)
    .toContain('9007199254740993')
})

test('a primary that stands still holds no caller for 10 s, nor a server that is to end, and is left within 5 s of the promotion', {
  timeout: 120_000,
}, async () => {
  const [server, ending] = await Promise.all([serve(database), serve(database)])
  const storm = startServedStorm([server], database)
  await storm.acknowledges(200)
  const old = pair.primary
  const observer = await openSession(old.urlOf('postgres'))
  const { rows } = await observer.query('SELECT pid FROM pg_stat_activity')
  const goOn = [old.pid(), ...rows.map(({ pid }) => Number(pid))].map(stopProcess)
  const asked = performance.now()
  const hanging = createHistory().send(clientOf(ending.url, database.token), {
    id: 0n,
    name: 'Fern',
  })
  await sleep(100)
  ending.kill('SIGTERM')
  expect((await ending.ended).code).toBe(0)
  await hanging
  expect(performance.now() - asked).toBeLessThan(LONGEST_ANSWER_MS)
  const promoted = await pair.promote()
  await storm.acknowledges(100)
  expect(performance.now() - promoted).toBeLessThan(STANDSTILL_MS)
  for (const one of goOn) one()
  await storm.acknowledges(200)
  await pair.primary.query(pair.primary.urlOf(database.name), 'DELETE FROM plants WHERE id = 0')
  await storm.endAndJudge(pair.primary.urlOf(database.name))
  old.kill()
  await pair.rejoin()
})

test('a primary that becomes read-only without a cut is left for the one that takes writes', {
  timeout: 120_000,
}, async () => {
  const server = await serve(database)
  const client = clientOf(server.url, database.token)
  const create = async (id: number) =>
    (await client.rest.createPlant({ body: { id, name: 'Fern' } })).status
  expect(await create(1)).toBe(200)
  const old = pair.primary
  await pair.promote()
  await old.set('default_transaction_read_only', 'on')
  const since = performance.now()
  // The first one, on the connection that was open all the time.
  expect(await create(2)).toBe(200)
  expect(performance.now() - since).toBeLessThan(2 * BACK_WITHIN_MS)
  expect(await isReady(server)).toBe(true)
  const ids = (await rowsOf(database.name)).map(({ id }) => Number(id))
  expect(ids.sort()).toEqual([1, 2])
  old.kill()
  await pair.rejoin()
})

test('an old primary that comes back before the new one is gone is not used again', {
  timeout: 120_000,
}, async () => {
  const server = await serve(database)
  const client = clientOf(server.url, database.token)
  const history = createHistory()
  let id = 0n
  const store = async () => {
    while ((await history.send(client, { id: id++, name: 'Fern' })) !== 'stored');
  }
  await store()
  const old = pair.primary
  old.kill()
  await pair.promote()
  await store()
  // By hand, alone and without a word to the other: each of the two takes writes now.
  await old.start()
  await old.set('synchronous_standby_names', "''")
  pair.primary.kill()
  await waitForReadiness(server, false)
  expect(await history.send(client, { id: id++, name: 'Fern' })).toBe('not_stored')
  await pair.primary.start()
  await waitForReadiness(server, true)
  await store()
  expect(history.judge(await rowsOf(database.name))).toMatchObject(NOTHING)
  old.kill()
  await pair.rejoin()
})

test('a create that only the standby has when the primary is killed is answered 200', {
  timeout: 120_000,
}, async () => {
  const server = await serve(database)
  const history = createHistory()
  const { primary, standby } = pair
  // The commit waits until the standby shows the plant, which it has on its disk before.
  await primary.set('synchronous_commit', 'remote_apply')
  await standby.query(standby.urlOf('postgres'), 'SELECT pg_wal_replay_pause()')
  const client = clientOf(server.url, database.token)
  const reply = history.send(client, { id: 1n, name: 'Fern' })
  const observer = await openSession(primary.urlOf(database.name))
  await waitForRow(observer, `${STORE_SESSIONS} AND wait_event = 'SyncRep'`)
  await waitForRow(
    observer,
    'SELECT FROM pg_stat_replication WHERE flush_lsn >= pg_current_wal_lsn()',
  )
  primary.kill()
  await pair.promote()
  expect(await reply).toBe('stored')
  expect(history.judge(await rowsOf(database.name))).toMatchObject(NOTHING)
  await pair.rejoin()
})

test('a standby that replays late is promoted with all that was answered 200', {
  timeout: 120_000,
}, async () => {
  const server = await serve(database)
  await pair.standby.query(pair.standby.urlOf('postgres'), 'SELECT pg_wal_replay_pause()')
  const storm = startServedStorm(server, database)
  await storm.acknowledges(500)
  pair.primary.kill()
  await pair.promote()
  await storm.endAndJudge(pair.primary.urlOf(database.name))
  await pair.rejoin()
})

test('without its standby creates wait, get no outcome, and are there when it is back', {
  timeout: 120_000,
}, async () => {
  const server = await serve(database)
  const client = clientOf(server.url, database.token)
  const history = createHistory()
  await history.send(client, { id: 0n, name: 'Fern' })
  pair.standby.kill()
  onTestFinished(() => pair.standby.start().catch(() => {}))
  // What it was sent before it is gone it may still confirm.
  const observer = await openSession(pair.primary.urlOf(database.name))
  await waitForRow(observer, 'SELECT WHERE NOT EXISTS (SELECT FROM pg_stat_replication)')
  const replies = []
  for (let id = 1n; id <= 20n; id++) replies.push(history.send(client, { id, name: 'Fern' }))
  const said = new Set(await Promise.all(replies))
  expect(said).not.toContain('stored')
  expect(said).toContain('unknown')
  expect(history.slowestMs).toBeLessThan(LONGEST_ANSWER_MS)
  await pair.standby.start()
  await waitForReadiness(server, true)
  while ((await history.send(client, { id: 21n, name: 'Fern' })) !== 'stored');
  expect(history.judge(await rowsOf(database.name))).toMatchObject(NOTHING)
})
