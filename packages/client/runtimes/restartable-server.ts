import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { findFreePort } from '../../../apps/server/test/free-port.ts'

const MAIN = new URL('../../../apps/server/src/main.ts', import.meta.url).pathname

/** The real server in a process of its own, which can end and come back under its address. */
export interface RestartableServer {
  readonly url: string
  readonly token: string
  /** Sends the process a signal, and resolves once it has ended. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  /** Lets the process stand still, or go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Starts it again, on the same port and file. */
  start(): Promise<void>
  /** Ends it, and gives the rows of its file, in the order of their ids. */
  endAndRead(): Promise<{ id: number; name: string }[]>
}

async function readText(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += chunk
    if (pattern.test(text)) return text
  }
  throw new Error(`the server ended after: ${text}`)
}

/** Starts the server on a free port over a new SQLite file. */
export async function startRestartableServer(): Promise<RestartableServer> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-restarted-'))
  const path = join(folder, 'plants.db')
  const listen = `127.0.0.1:${await findFreePort()}`

  function spawnServer(): ChildProcess {
    const settings = {
      'database-url': `sqlite:${path}`,
      listen,
      'operations-listen': 'off',
      'log-level': 'silent',
    }
    const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
    return spawn(process.execPath, [MAIN, 'serve', ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  }

  let child = spawnServer()
  const greeting = await readText(child, /listens on \S+[\s\S]*^ {2}plant_\S+$/m)
  const url = /listens on (\S+)/.exec(greeting)?.[1] ?? ''
  const token = /^ {2}(plant_\S+)$/m.exec(greeting)?.[1] ?? ''

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  return {
    url,
    token,
    end,
    signal: (signal) => void child.kill(signal),
    async start() {
      child = spawnServer()
      await readText(child, /listens on \S+/)
    },
    async endAndRead() {
      await end('SIGKILL')
      const database = new DatabaseSync(path)
      const rows = database.prepare('SELECT id, name FROM plants ORDER BY id').all()
      database.close()
      rmSync(folder, { recursive: true })
      return rows.map(({ id, name }) => ({ id: Number(id), name: String(name) }))
    },
  }
}
