import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { issueToken } from '../src/auth/tokens.ts'
import { migratePostgresDatabase } from '../src/postgres/migrations.ts'
import { openPostgresStore } from '../src/postgres/store.ts'
import { createTestClient, type TestClient } from '../test/clients.ts'

const MAIN = join(import.meta.dirname, '../dist/main.js')

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
  readonly url: string
  readonly client: TestClient
  readonly port: number
  readonly pid: number
  /** Whether the process still runs. */
  isRunning(): boolean
  /** Resolves with the exit code once the process has ended; null after a kill. */
  kill(signal: NodeJS.Signals): Promise<number | null>
}

async function readGreeting(child: ChildProcess): Promise<string> {
  let greeting = ''
  for await (const chunk of child.stdout ?? []) {
    greeting += chunk
    const [, url] = /listens on (\S+)\n.*200 means durable/s.exec(greeting) ?? []
    if (url !== undefined) return url
  }
  throw new Error(`the server ended with ${child.exitCode}`)
}

/** Starts the built server and resolves once it listens. */
export async function serve(
  databaseUrl: string,
  token: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PLANT_STORE_DATABASE_URL: databaseUrl,
      PLANT_STORE_LISTEN: '127.0.0.1:0',
      PLANT_STORE_OPERATIONS_LISTEN: 'off',
      PLANT_STORE_LOG_LEVEL: 'silent',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const baseUrl = await readGreeting(child)
  return {
    url: baseUrl,
    client: createTestClient({ baseUrl, token, maxRetries: 0, timeoutMs: 30_000 }),
    port: Number(new URL(baseUrl).port),
    pid: child.pid ?? 0,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async kill(signal) {
      child.kill(signal)
      await ended
      return child.exitCode
    },
  }
}
