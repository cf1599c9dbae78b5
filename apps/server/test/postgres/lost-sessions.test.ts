import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'vitest'
import { serveNewDatabase } from './served-database.ts'
import { startServedStorm } from './served-storm.ts'
import { openSession, STORE_SESSIONS, stopProcess, waitForRow } from './sessions.ts'
import { usePostgres } from './use-postgres.ts'

const TERMINATIONS = 20

/** Longer than the store lets one statement take. */
const STOPPED_MS = 5_000

const postgres = usePostgres()

test('sessions that are terminated under load lose, double, alter and misreport nothing', async () => {
  const { database, server } = await serveNewDatabase(postgres)
  const observer = await openSession(database.databaseUrl)
  const storm = startServedStorm(server, database)
  for (let termination = 0; termination < TERMINATIONS; termination++) {
    await storm.acknowledges(50)
    await observer.query(`SELECT pg_terminate_backend(pid) FROM (${STORE_SESSIONS}) AS sessions`)
  }
  await storm.endAndJudge(database.databaseUrl)
})

test('a session that stands still in a commit holds no caller for 10 s and hides nothing', {
  timeout: 120_000,
}, async () => {
  const { database, server } = await serveNewDatabase(postgres)
  const observer = await openSession(database.databaseUrl)
  const storm = startServedStorm(server, database)
  await storm.acknowledges(50)
  const committing = `${STORE_SESSIONS} AND state = 'active' AND query LIKE 'INSERT%'`
  const { pid } = await waitForRow(observer, committing)
  const goOn = stopProcess(Number(pid))
  // No event reports that a time has passed.
  await sleep(STOPPED_MS)
  goOn()
  await storm.endAndJudge(database.databaseUrl)
})
