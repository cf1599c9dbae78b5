import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { openPostgresStore } from '../../src/postgres/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { givenUrl, migrateTestDatabase, openGiven } from './given-postgres.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

/**
 * A real PostgreSQL for the tests of one file, or the given one, which can neither be set nor killed;
 * to be used from its tests and hooks.
 */
export function usePostgres(settings: readonly string[] = []): PostgresServer {
  let server: Partial<PostgresServer> | undefined
  beforeAll(async () => {
    server = givenUrl === undefined ? await startPostgres(settings) : openGiven(givenUrl)
  }, 60_000)
  afterAll(() => server?.stop?.(), 60_000)
  return new Proxy({} as PostgresServer, {
    get: (_, name) => server?.[name as keyof PostgresServer],
  })
}

/** A new database with the tables of a store. */
export async function newDatabase(postgres: PostgresServer): Promise<string> {
  const databaseUrl = await postgres.createDatabase()
  await migrateTestDatabase(databaseUrl)
  return databaseUrl
}

/** The store in a database, which closes with the test. */
export async function openStoreAt(databaseUrl: string): Promise<Store> {
  const store = await openPostgresStore({ databaseUrl, allowDataLoss: false })
  onTestFinished(() => store.close())
  return store
}
