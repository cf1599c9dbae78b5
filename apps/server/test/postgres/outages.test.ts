import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { logLinesIn } from '../../../../test/server-process.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { useDatabase } from '../../src/postgres/pool.ts'
import { resolveOutcome } from '../../src/postgres/resolve.ts'
import {
  prepareDatabase,
  readIds,
  serve,
  serveNewDatabase,
  waitForReadiness,
} from './served-database.ts'
import { LONGEST_ANSWER_MS } from './storm.ts'
import { asServer, END_STORE_SESSIONS, newDatabase, usePostgres } from './use-postgres.ts'

const postgres = usePostgres()

const unavailable = { status: 503, body: { error: 50_300 } }

const SET = 'ALTER ROLE plant_store_server'
const USER_FIX = 'Try: fix the user or the password'

test.each<[outage: string, reason: RegExp, begin: string, end: string]>([
  [
    'becomes read-only',
    /cannot execute INSERT in a read-only transaction/,
    `${SET} SET default_transaction_read_only = on`,
    `${SET} RESET ALL`,
  ],
  [
    'has no free connection',
    /too many connections for role.*\. Try: end other connections/,
    `${SET} CONNECTION LIMIT 0`,
    `${SET} CONNECTION LIMIT -1`,
  ],
  [
    'takes a privilege back',
    /permission denied for table plants\. Try: the GRANTs of docs/,
    'REVOKE INSERT ON plants FROM plant_store_server',
    'GRANT INSERT ON plants TO plant_store_server',
  ],
  [
    'has another password',
    new RegExp(`password authentication failed.*\\. ${USER_FIX}`),
    `${SET} PASSWORD 'another'`,
    `${SET} PASSWORD 'plant_store_server'`,
  ],
  [
    'refuses the user',
    new RegExp(`is not permitted to log in\\. ${USER_FIX}`),
    `${SET} NOLOGIN`,
    `${SET} LOGIN`,
  ],
])(
  'while a database %s creates are 503, the reason is on /readyz and in the log, and then it goes on',
  async (_outage, reason, begin, end) => {
    const { databaseUrl, token } = await prepareDatabase(await postgres.createDatabase())
    const url = await asServer(databaseUrl)
    const change = async (sql: string) => {
      const role = new URL(url).username
      await postgres.query(databaseUrl, sql.replaceAll('plant_store_server', role))
      await postgres.query(databaseUrl, END_STORE_SESSIONS)
      // The end of a session is an event of its own.
      await sleep(300)
    }
    const environment = { PLANT_STORE_LOG_LEVEL: 'info' }
    const server = await serve({ databaseUrl: url, token }, { environment })
    expect(await server.create(1)).toMatchObject({ status: 200 })
    await change(begin)
    expect(await waitForReadiness(server, false)).toMatch(reason)
    expect(await server.create(2)).toMatchObject(unavailable)
    await change(end)
    await waitForReadiness(server, true)
    expect(await server.create(3)).toMatchObject({ status: 200 })
    expect(await readIds(databaseUrl)).toEqual([1, 3])
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
  expect((await readIds(database.databaseUrl)).filter((id) => id !== 9)).toEqual([1, 3])
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
