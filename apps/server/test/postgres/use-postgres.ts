import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type PostgresServer, query, startPostgres } from '../../../../test/postgres-server.ts'
import { migratePostgresDatabase } from '../../src/postgres/migrations.ts'
import { openPostgresStore } from '../../src/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'

/** A real PostgreSQL for the tests of one file; to be used from its tests and hooks. */
export function usePostgres(): PostgresServer {
  let server: PostgresServer | undefined
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())
  return new Proxy({} as PostgresServer, {
    get: (_, name) => server?.[name as keyof PostgresServer],
  })
}

/** A new database with the tables of a store. */
export async function newDatabase(postgres: PostgresServer): Promise<string> {
  const databaseUrl = await postgres.createDatabase()
  await migratePostgresDatabase(databaseUrl, false)
  return databaseUrl
}

/** The store in a database, which closes with the test. */
export async function openStoreAt(databaseUrl: string, allowDataLoss = false): Promise<Store> {
  const store = await openPostgresStore({ databaseUrl, allowDataLoss })
  onTestFinished(() => store.close())
  return store
}

/** The name of the database in a URL. */
export function nameOf(databaseUrl: string): string {
  return new URL(databaseUrl).pathname.slice(1)
}

/** The same URL for another user, whose password is its name. */
export function asRole(databaseUrl: string, role: string): string {
  return databaseUrl.replace(/\/\/.*@/, `//${role}:${role}@`)
}

/** The URL of a database for a new user, who may do no more than docs/growing.md grants a server. */
export async function asServer(databaseUrl: string): Promise<string> {
  const role = `server_of_${nameOf(databaseUrl)}`
  const document = readFileSync(new URL('../../../../docs/growing.md', import.meta.url), 'utf8')
  const [, grants = ''] = /```sql\n(GRANT[^`]*)```/.exec(document) ?? []
  await query(databaseUrl, `CREATE ROLE ${role} LOGIN PASSWORD '${role}'`)
  await query(databaseUrl, grants.replaceAll('plant_store_server', role))
  return asRole(databaseUrl, role)
}

/** A connection of the test's own, past the store, which ends with the test. */
export async function openSession(databaseUrl: string): Promise<pg.Client> {
  const session = new pg.Client(databaseUrl)
  // A server that is stopped ends it; a statement that was under way fails by itself.
  session.on('error', () => {})
  await session.connect()
  onTestFinished(() => session.end())
  return session
}

/** Asks again until a query gives a row, and gives it. */
export async function waitForRow(session: pg.Client, text: string): Promise<pg.QueryResultRow> {
  const deadline = performance.now() + 20_000
  for (;;) {
    const { rows } = await session.query(text)
    if (rows[0] !== undefined) return rows[0]
    if (performance.now() > deadline) throw new Error(`no row came of: ${text}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Sessions of the store in the database that is asked. */
export const STORE_SESSIONS = `SELECT pid, query_start::text AS started FROM pg_stat_activity
  WHERE application_name = 'plant-store' AND datname = current_database()`

/** Those of them that wait for another transaction. */
export const WAITING_FOR_A_LOCK = `${STORE_SESSIONS} AND wait_event_type = 'Lock'`

/** Ends them, as a database that is started again would. */
export const END_STORE_SESSIONS = `SELECT pg_terminate_backend(pid) FROM (${STORE_SESSIONS}) AS sessions`

/** Lets a process stand still until the function that it gives is called, or the test has finished. */
export function stopProcess(pid: number): () => void {
  const goOn = () => {
    try {
      process.kill(pid, 'SIGCONT')
    } catch {
      // It has ended by itself.
    }
  }
  process.kill(pid, 'SIGSTOP')
  onTestFinished(goOn)
  return goOn
}
