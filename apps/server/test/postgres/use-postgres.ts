import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { migratePostgresDatabase } from '../../src/postgres/migrations.ts'
import { openPostgresStore } from '../../src/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

/** A real PostgreSQL for the tests of one file; to be used from its tests and hooks. */
export function usePostgres(settings: readonly string[] = []): PostgresServer {
  let server: PostgresServer | undefined
  beforeAll(async () => {
    server = await startPostgres(settings)
  }, 60_000)
  afterAll(() => server?.stop(), 60_000)
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
export async function openStoreAt(databaseUrl: string): Promise<Store> {
  const store = await openPostgresStore({ databaseUrl, allowDataLoss: false })
  onTestFinished(() => store.close())
  return store
}
