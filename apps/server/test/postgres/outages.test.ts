import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { useDatabase } from '../../src/postgres/pool.ts'
import { resolveOutcome } from '../../src/postgres/resolve.ts'
import { logLinesIn } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import {
  prepareDatabase,
  readRows,
  serve,
  serveNewDatabase,
  waitForReadiness,
} from './served-database.ts'
import { LONGEST_ANSWER_MS } from './storm.ts'
import {
  asServer,
  END_STORE_SESSIONS,
  newDatabase,
  openSession,
  STORE_SESSIONS,
  usePostgres,
} from './use-postgres.ts'

const postgres = usePostgres(['max_connections=20', 'superuser_reserved_connections=0'])

const unavailable = { status: 503, body: { error: 50_300 } }

async function idsIn(databaseUrl: string): Promise<number[]> {
  return (await readRows(databaseUrl)).map(({ id }) => Number(id))
}

/** Takes every connection that is left, and those that are freed meanwhile. */
async function takeAllConnections(databaseUrl: string): Promise<() => Promise<void>> {
  const observer = await openSession(databaseUrl)
  const taken = [observer]
  for (;;) {
    try {
      taken.push(await openSession(databaseUrl))
    } catch {
      const { rows } = await observer.query(STORE_SESSIONS)
      if (rows.length === 0) break
      for (const { pid } of rows) await observer.query('SELECT pg_terminate_backend($1)', [pid])
    }
  }
  return async () => {
    for (const session of taken) await session.end()
  }
}

/** Gives `begin` a database of the superuser's and the role that serves; it gives what ends the outage. */
type Begin = (databaseUrl: string, role: string) => Promise<() => Promise<unknown>>

test.each<[outage: string, reason: RegExp, begin: Begin]>([
  [
    'becomes read-only',
    /cannot execute INSERT in a read-only transaction/,
    async () => {
      await postgres.set('default_transaction_read_only', 'on')
      return () => postgres.set('default_transaction_read_only', 'DEFAULT')
    },
  ],
  ['has no free connection', /too many clients|remaining connection slots/, takeAllConnections],
  [
    'takes a privilege back',
    /permission denied for table plants\. Try: the GRANTs of docs/,
    async (databaseUrl, role) => {
      await postgres.query(databaseUrl, `REVOKE INSERT ON plants FROM ${role}`)
      return () => postgres.query(databaseUrl, `GRANT INSERT ON plants TO ${role}`)
    },
  ],
  [
    'has another password',
    /password authentication failed.*\. Try: fix the user or the password/,
    async (databaseUrl, role) => {
      await postgres.query(databaseUrl, `ALTER ROLE ${role} PASSWORD 'another'`)
      await postgres.query(databaseUrl, END_STORE_SESSIONS)
      return () => postgres.query(databaseUrl, `ALTER ROLE ${role} PASSWORD '${role}'`)
    },
  ],
  [
    'refuses the user',
    /is not permitted to log in\. Try: fix the user or the password/,
    async (databaseUrl, role) => {
      await postgres.query(databaseUrl, `ALTER ROLE ${role} NOLOGIN`)
      await postgres.query(databaseUrl, END_STORE_SESSIONS)
      return () => postgres.query(databaseUrl, `ALTER ROLE ${role} LOGIN`)
    },
  ],
])(
  'while a database %s creates are 503, the reason is on /readyz and in the log, and then it goes on',
  async (_outage, reason, begin) => {
    const { databaseUrl, token } = await prepareDatabase(await postgres.createDatabase())
    const url = await asServer(databaseUrl)
    const environment = { PLANT_STORE_LOG_LEVEL: 'info' }
    const server = await serve({ databaseUrl: url, token }, { environment })
    expect(await server.create(1)).toMatchObject({ status: 200 })
    const end = await begin(databaseUrl, new URL(url).username)
    // The end of a session is an event of its own.
    await sleep(100)
    onTestFinished(async () => void (await end().catch(() => {})))
    expect(await waitForReadiness(server, false)).toMatch(reason)
    expect(await server.create(2)).toMatchObject(unavailable)
    await end()
    await waitForReadiness(server, true)
    expect(await server.create(3)).toMatchObject({ status: 200 })
    expect(await idsIn(databaseUrl)).toEqual([1, 3])
    const lines = logLinesIn((await server.end()).err)
    const said = lines.find(({ msg }) => msg === 'not ready')
    expect(`${said?.reason}. Try: ${said?.fix}`).toMatch(reason)
  },
)

test('a password that is changed in the file of the URL first, and then in the database, fails no create', async () => {
  const { databaseUrl, token } = await prepareDatabase(await postgres.createDatabase())
  const url = new URL(await asServer(databaseUrl))
  const file = join(temporaryFolder(), 'database-url')
  writeFileSync(file, url.href)
  const environment = { PLANT_STORE_DATABASE_URL_FILE: file }
  const server = await serve({ token }, { environment })
  expect(await server.create(1)).toMatchObject({ status: 200 })
  url.password = 'the next one'
  writeFileSync(file, url.href)
  await postgres.query(databaseUrl, END_STORE_SESSIONS)
  expect(await server.create(2)).toMatchObject({ status: 200 })
  await postgres.query(databaseUrl, `ALTER ROLE ${url.username} PASSWORD 'the next one'`)
  await postgres.query(databaseUrl, END_STORE_SESSIONS)
  expect(await server.create(3)).toMatchObject({ status: 200 })
  await waitForReadiness(server, true)
})

/** Starts the database unless it runs, so that a test that failed takes no other one with it. */
async function startAgain(): Promise<void> {
  await postgres.query(postgres.urlOf('postgres'), 'SELECT 1').catch(() => postgres.start())
}

test('a server whose database is gone answers 503 at once, goes on when it is back, and ends within 10 s when asked', async () => {
  const { database, server } = await serveNewDatabase(postgres)
  expect(await server.create(1)).toMatchObject({ status: 200 })
  onTestFinished(startAgain, 30_000)
  postgres.kill()
  await waitForReadiness(server, false)
  // Sessions outlive the postmaster by a moment; what they were sent may have any outcome.
  while ((await server.create(9)).status !== 503);
  const begin = performance.now()
  expect(await server.create(2)).toMatchObject(unavailable)
  expect(performance.now() - begin).toBeLessThan(3_000)
  await postgres.start()
  await waitForReadiness(server, true)
  expect(await server.create(3)).toMatchObject({ status: 200 })
  expect((await idsIn(database.databaseUrl)).filter((id) => id !== 9)).toEqual([1, 3])
  postgres.kill()
  const asked = performance.now()
  expect((await server.end()).code).toBe(0)
  expect(performance.now() - asked).toBeLessThan(10_000)
})

test('statements that began in time are cut before callers give up', async () => {
  const waitedMs = 3_900
  let since = 0
  const hang = async (client: PoolClient) => {
    // Each by itself is short enough.
    for (let statement = 0; statement < 2; statement++) await client.query('SELECT pg_sleep(3.5)')
  }
  const outcome = useDatabase(await newDatabase(postgres), { allowDataLoss: false }, (database) => {
    since = performance.now()
    return resolveOutcome(database.connections, hang, waitedMs)
  })
  await expect(outcome).rejects.toMatchObject({ cause: { name: 'OutcomeUnknownError' } })
  expect(waitedMs + performance.now() - since).toBeLessThan(LONGEST_ANSWER_MS)
})
