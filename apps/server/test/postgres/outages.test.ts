import type { PoolClient } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { useDatabase } from '../../src/postgres/pool.ts'
import { resolveOutcome } from '../../src/postgres/resolve.ts'
import { createHistory } from './history.ts'
import {
  clientOf,
  isReady,
  readRows,
  serveNewDatabase,
  waitForReadiness,
} from './served-database.ts'
import { LONGEST_ANSWER_MS } from './served-storm.ts'
import { openSession, STORE_SESSIONS } from './sessions.ts'
import { newDatabase, usePostgres } from './use-postgres.ts'

const postgres = usePostgres(['max_connections=20', 'superuser_reserved_connections=0'])

const unavailable = { status: 503, body: { error: 50_300 } }

async function serveAndAsk() {
  const { database, server } = await serveNewDatabase(postgres)
  const client = clientOf(server.url, database.token)
  const create = (id: number) => client.rest.createPlant({ body: { id, name: 'Fern' } })
  expect(await create(1)).toMatchObject({ status: 200 })
  const ids = async () => (await readRows(database.databaseUrl)).map(({ id }) => Number(id))
  return { database, server, create, ids }
}

test('a database that becomes read-only is unavailable until it takes writes again', async () => {
  const { server, create, ids } = await serveAndAsk()
  await postgres.set('default_transaction_read_only', 'on')
  onTestFinished(() => postgres.set('default_transaction_read_only', 'DEFAULT'))
  await waitForReadiness(server, false)
  expect(await create(2)).toMatchObject(unavailable)
  await postgres.set('default_transaction_read_only', 'DEFAULT')
  await waitForReadiness(server, true)
  expect(await create(3)).toMatchObject({ status: 200 })
  expect(await ids()).toEqual([1, 3])
})

/** Takes every connection that is left, and those that are freed meanwhile. */
async function takeAllConnections(databaseUrl: string): Promise<() => Promise<void>> {
  const taken = [await openSession(databaseUrl)]
  const [observer] = taken
  for (;;) {
    try {
      taken.push(await openSession(databaseUrl))
    } catch {
      const rows = (await observer?.query(STORE_SESSIONS))?.rows ?? []
      if (rows.length === 0) break
      for (const { pid } of rows) await observer?.query('SELECT pg_terminate_backend($1)', [pid])
    }
  }
  return async () => {
    for (const session of taken) await session.end()
  }
}

test('a database without a free connection is unavailable until there is one', async () => {
  const { database, server, create, ids } = await serveAndAsk()
  const giveBack = await takeAllConnections(database.databaseUrl)
  expect(await create(2)).toMatchObject(unavailable)
  expect(await isReady(server)).toBe(false)
  await giveBack()
  await waitForReadiness(server, true)
  expect(await create(3)).toMatchObject({ status: 200 })
  expect(await ids()).toEqual([1, 3])
})

/** Starts the database unless it runs, so that a test that failed takes no other one with it. */
async function startAgain(): Promise<void> {
  await postgres.query(postgres.urlOf('postgres'), 'SELECT 1').catch(() => postgres.start())
}

describe('a server whose database is gone', () => {
  test('answers 503 at once, goes on when it is back, and ends within 10 s when asked', async () => {
    const { server, create, ids } = await serveAndAsk()
    onTestFinished(startAgain, 30_000)
    postgres.kill()
    await waitForReadiness(server, false)
    // Sessions outlive the postmaster by a moment; what they were sent may have any outcome.
    while ((await create(9)).status !== 503);
    const begin = performance.now()
    expect(await create(2)).toMatchObject(unavailable)
    expect(performance.now() - begin).toBeLessThan(3_000)
    await postgres.start()
    await waitForReadiness(server, true)
    expect(await create(3)).toMatchObject({ status: 200 })
    expect((await ids()).filter((id) => id !== 9)).toEqual([1, 3])
    postgres.kill()
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })
})

test('a table that is locked holds no caller for more than 10 s, and no outcome is wrong', {
  timeout: 120_000,
}, async () => {
  const { database, server } = await serveNewDatabase(postgres)
  const client = clientOf(server.url, database.token)
  const history = createHistory()
  const locker = await openSession(database.databaseUrl)
  await locker.query('BEGIN')
  await locker.query('LOCK TABLE plants IN ACCESS EXCLUSIVE MODE')
  const reply = []
  // One after the other, so that some wait behind commits that hang already.
  for (let id = 0; id < 40; id++) {
    reply.push(history.send(client, { id: BigInt(id), name: 'Fern' }))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await Promise.all(reply)
  expect(history.slowestMs).toBeLessThan(10_000)
  await locker.query('COMMIT')
  await waitForReadiness(server, true)
  const verdict = history.judge(await readRows(database.databaseUrl))
  expect(verdict).toMatchObject({ lost: [], altered: [], doubled: [], lies: [] })
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
