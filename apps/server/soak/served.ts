import { issueToken } from '../src/auth/tokens.ts'
import { engineOf } from '../src/engines.ts'
import type { TestClient } from '../test/clients.ts'
import { clientWithoutRetries, startServerProcess } from '../test/process/server-process.ts'

/** A migrated database and a token for the servers over it. */
export interface PreparedDatabase {
  readonly databaseUrl: string
  readonly token: string
}

/** Brings a new database to the schema and puts a token into it. */
export async function prepareDatabase(databaseUrl: string): Promise<PreparedDatabase> {
  const database = engineOf(databaseUrl)
  await database.migrate({ allowDataLoss: false })
  const store = await database.open({ allowDataLoss: false })
  const { text: token } = await issueToken(store, 'soak', Number.POSITIVE_INFINITY)
  await store.close()
  return { databaseUrl, token }
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
  { databaseUrl, token }: PreparedDatabase,
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
