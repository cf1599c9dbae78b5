import { issueToken } from '../src/auth/tokens.ts'
import { migratePostgresDatabase } from '../src/postgres/migrations.ts'
import { openPostgresStore } from '../src/postgres/store.ts'
import type { TestClient } from '../test/clients.ts'
import { clientWithoutRetries, startServerProcess } from '../test/process/server-process.ts'

/** Brings a new database to the schema, puts a token into it, and gives that. */
export async function prepare(databaseUrl: string): Promise<string> {
  await migratePostgresDatabase(databaseUrl, false)
  const store = await openPostgresStore({ databaseUrl, allowDataLoss: false })
  const { text } = await issueToken(store, 'soak', Number.POSITIVE_INFINITY)
  await store.close()
  return text
}

/** A server process over a database that is migrated and has the token. */
export interface Served {
  readonly client: TestClient
  readonly port: number
  readonly pid: number
  /** Whether the process still runs. */
  isRunning(): boolean
  /** Resolves once the process has ended. */
  kill(signal: NodeJS.Signals): Promise<unknown>
}

/** Starts the built server and resolves once it listens. */
export async function serve(
  databaseUrl: string,
  token: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const settings = {
    PLANT_STORE_DATABASE_URL: databaseUrl,
    PLANT_STORE_OPERATIONS_LISTEN: 'off',
    PLANT_STORE_LOG_LEVEL: 'silent',
  }
  const server = await startServerProcess({
    token,
    folder: process.cwd(),
    environment: { ...settings, ...environment },
    onStart: (kill) => void process.once('exit', kill),
  })
  let isRunning = true
  void server.ended.then(() => {
    isRunning = false
  })
  const { port, pid, end } = server
  return { client: clientWithoutRetries(server), port, pid, isRunning: () => isRunning, kill: end }
}
