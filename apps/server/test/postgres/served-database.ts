import { prepare } from '../../soak/served.ts'
import { createTestClient } from '../clients.ts'
import {
  type ServerProcess,
  type ServerProcessOptions,
  startServerProcess,
} from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import type { StoredRow } from './history.ts'
import { type PostgresServer, query } from './postgres-server.ts'

/** A migrated database and a token for the servers over it. */
export interface PreparedDatabase {
  readonly databaseUrl: string
  readonly token: string
}

/** Brings a new database to the schema and puts a token into it. */
export async function prepareDatabase(databaseUrl: string): Promise<PreparedDatabase> {
  return { databaseUrl, token: await prepare(databaseUrl) }
}

/** A server process over a prepared database, which ends with the test. */
export function serve(
  { databaseUrl, token }: PreparedDatabase,
  options: Partial<ServerProcessOptions> = {},
): Promise<ServerProcess> {
  return startServerProcess({
    folder: temporaryFolder(),
    token,
    ...options,
    environment: {
      PLANT_STORE_DATABASE_URL: databaseUrl,
      PLANT_STORE_LOG_LEVEL: 'silent',
      ...options.environment,
    },
  })
}

/** A new database and a server process over it. */
export async function serveNewDatabase(
  postgres: PostgresServer,
): Promise<{ readonly database: PreparedDatabase; readonly server: ServerProcess }> {
  const database = await prepareDatabase(await postgres.createDatabase())
  return { database, server: await serve(database) }
}

/** Whether the server says that it is ready. */
export async function isReady({ operationsUrl }: ServerProcess): Promise<boolean> {
  return (await fetch(`${operationsUrl}/readyz`)).status === 200
}

/** Resolves when the server says that it is ready, or that it is not. */
export async function waitForReadiness(server: ServerProcess, expected: boolean): Promise<void> {
  const deadline = performance.now() + 30_000
  while ((await isReady(server)) !== expected) {
    if (performance.now() > deadline) throw new Error(`readyz did not become ${expected}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A client that sends each plant once. */
export function clientOf(url: string, token: string) {
  return createTestClient({ baseUrl: url, token, maxRetries: 0, timeoutMs: 30_000 })
}

/** Every plant, read past the store, with all digits of its id. */
export async function readRows(databaseUrl: string): Promise<StoredRow[]> {
  const rows = await query(databaseUrl, 'SELECT id::text AS id, name, tag FROM plants')
  return rows as StoredRow[]
}
