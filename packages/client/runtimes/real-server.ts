import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createAuthenticate } from '../../../apps/server/src/auth/token-cache.ts'
import { issueToken } from '../../../apps/server/src/auth/tokens.ts'
import { loadConfig } from '../../../apps/server/src/config/config.ts'
import { startServer } from '../../../apps/server/src/http/server.ts'
import { openSqliteStore } from '../../../apps/server/src/sqlite/store.ts'
import type { PlantStore } from '../../../apps/server/src/store/store.ts'
import { createLog } from '../../../apps/server/src/telemetry/log.ts'

/** Ids by what is stored under them. */
export type StoredNames = ReadonlyMap<bigint, string>

export interface RealServer {
  readonly url: string
  readonly port: number
  readonly token: string
  /** What its file holds now. */
  readNames(): StoredNames
  /** Ends the server, in order, and gives what its file holds. */
  endAndRead(): Promise<StoredNames>
}

function readNames(path: string): StoredNames {
  const database = new DatabaseSync(path)
  const select = database.prepare('SELECT id, name FROM plants')
  select.setReadBigInts(true)
  const names = select.all().map(({ id, name }) => [id as bigint, String(name)] as const)
  database.close()
  return new Map(names)
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

/**
 * The real server over a real SQLite file, in this process.
 * @param breakStore stands between the server and the store, to fail as a store may
 */
export async function startRealServer(
  breakStore: (plants: PlantStore) => PlantStore = (plants) => plants,
): Promise<RealServer> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-applied-'))
  const path = join(folder, 'plants.db')
  const store = await openSqliteStore({ path })
  const { text: token } = await issueToken(store, 'applied', Number.POSITIVE_INFINITY)
  const flags = { listen: '127.0.0.1:0', operationsListen: 'off', shutdownTimeoutMs: '200' }
  const config = loadConfig(flags, [], {})
  const broken = { ...store, plants: breakStore(store.plants) }
  const server = await startServer(config, broken, {
    authenticate: createAuthenticate(store.tokens),
    log: createLog('silent'),
  })
  return {
    url: server.url,
    port: portOf(server.url),
    token,
    readNames: () => readNames(path),
    async endAndRead() {
      await server.close()
      await store.close()
      const names = readNames(path)
      rmSync(folder, { recursive: true })
      return names
    },
  }
}

const MAIN = new URL('../../../apps/server/src/main.ts', import.meta.url).pathname

async function readGreeting(child: ChildProcess): Promise<{ url: string; token: string }> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += chunk
    const url = /listens on (\S+)/.exec(text)?.[1]
    const token = /^ {2}(plant_\S+)$/m.exec(text)?.[1]
    if (url !== undefined && token !== undefined) return { url, token }
  }
  throw new Error(`the server ended after: ${text}`)
}

export interface KillableServer extends RealServer {
  /** Ends the process at once, whatever it does; `endAndRead` reads what is left. */
  kill(): void
}

/** The real server in a process of its own, as its operator starts it; `more` are flags of it. */
export async function startKillableServer(
  more: Readonly<Record<string, string>> = {},
): Promise<KillableServer> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-killed-'))
  const path = join(folder, 'plants.db')
  const settings = {
    'database-url': `sqlite:${path}`,
    listen: '127.0.0.1:0',
    'operations-listen': 'off',
    'log-level': 'silent',
    ...more,
  }
  const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
  const child = spawn(process.execPath, [MAIN, 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = new Promise((resolve) => child.once('close', resolve))
  const { url, token } = await readGreeting(child)
  return {
    url,
    port: portOf(url),
    token,
    readNames: () => readNames(path),
    kill: () => void child.kill('SIGKILL'),
    async endAndRead() {
      child.kill('SIGKILL')
      await closed
      const names = readNames(path)
      rmSync(folder, { recursive: true })
      return names
    },
  }
}
