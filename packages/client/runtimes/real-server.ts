import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createAuthenticate } from '../../../apps/server/src/auth/token-cache.ts'
import { issueToken } from '../../../apps/server/src/auth/tokens.ts'
import { loadConfig } from '../../../apps/server/src/config/config.ts'
import { startServer } from '../../../apps/server/src/http/server.ts'
import { openSqliteStore } from '../../../apps/server/src/sqlite/store.ts'
import type { PlantStore } from '../../../apps/server/src/store/store.ts'
import { createLog } from '../../../apps/server/src/telemetry/log.ts'
import { findFreePort } from '../../../apps/server/test/free-port.ts'

/** Ids by what is stored under them. */
export type StoredNames = ReadonlyMap<bigint, string>

export interface RealServer {
  readonly url: string
  readonly port: number
  readonly token: string
  /** What its file holds now. */
  readNames(): StoredNames
  /** Ends the server, and gives what its file holds. */
  endAndRead(): Promise<StoredNames>
}

const newFile = () => join(mkdtempSync(join(tmpdir(), 'plant-store-real-')), 'plants.db')

function describeServer(path: string, url: string, token: string, end: () => Promise<unknown>) {
  function readNames(): StoredNames {
    const database = new DatabaseSync(path)
    const select = database.prepare('SELECT id, name FROM plants')
    select.setReadBigInts(true)
    const names = select.all().map(({ id, name }) => [id as bigint, String(name)] as const)
    database.close()
    return new Map(names)
  }
  async function endAndRead(): Promise<StoredNames> {
    await end()
    const names = readNames()
    rmSync(dirname(path), { recursive: true })
    return names
  }
  return { url, port: Number(new URL(url).port), token, readNames, endAndRead }
}

/**
 * The real server over a real SQLite file, in this process.
 * @param breakStore stands between the server and the store, to fail as a store may
 */
export async function startRealServer(
  breakStore: (plants: PlantStore) => PlantStore = (plants) => plants,
): Promise<RealServer> {
  const path = newFile()
  const store = await openSqliteStore({ path })
  const { text: token } = await issueToken(store, 'real', Number.POSITIVE_INFINITY)
  const flags = { listen: '127.0.0.1:0', operationsListen: 'off', shutdownTimeoutMs: '200' }
  const broken = { ...store, plants: breakStore(store.plants) }
  const authenticate = createAuthenticate(store.tokens)
  const log = createLog('silent')
  const server = await startServer(loadConfig(flags, [], {}), broken, { authenticate, log })
  return describeServer(path, server.url, token, () => server.close().then(store.close))
}

const MAIN = new URL('../../../apps/server/src/main.ts', import.meta.url).pathname

export interface ServerProcess extends RealServer {
  /** Starts it again, on the same port and file. */
  start(): Promise<void>
  /** Sends the process a signal. */
  signal(signal: NodeJS.Signals): void
  /** Ends the process by a signal; `endAndRead` does by SIGKILL. */
  end(signal: NodeJS.Signals): Promise<void>
}

/** The real server in a process of its own, as its operator starts it; `more` are flags of it. */
export async function startServerProcess(
  more: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const path = newFile()
  const listen = `127.0.0.1:${await findFreePort()}`
  const own = { 'database-url': `sqlite:${path}`, listen, 'operations-listen': 'off' }
  const settings = Object.entries({ ...own, 'log-level': 'silent', ...more })
  const args = [MAIN, 'serve', ...settings.map(([name, value]) => `--${name}=${value}`)]
  const migrate = [MAIN, 'migrate', `--database-url=sqlite:${path}`]
  execFileSync(process.execPath, migrate, { stdio: 'ignore' })
  let child: ChildProcess

  /** Gives what the server prints until it says a token, the first time, or that it listens. */
  async function start(until: RegExp): Promise<string> {
    child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    for await (const chunk of child.stdout ?? []) {
      text += chunk
      const found = until.exec(text)
      if (found !== null) return found[1] ?? ''
    }
    throw new Error(`the server ended after: ${text}`)
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  const token = await start(/listens on[\s\S]*^ {2}(plant_\S+)$/m)
  return {
    ...describeServer(path, `http://${listen}`, token, () => end('SIGKILL')),
    start: async () => void (await start(/listens on/)),
    signal: (signal) => void child.kill(signal),
    end,
  }
}
