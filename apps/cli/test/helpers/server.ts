import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { findFreePort } from '../../../server/test/free-port.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

/** The server's program as its build makes it. */
export const SERVER = fileURLToPath(new URL('../../../server/dist/main.js', import.meta.url))

export type PlantStoreServer = Awaited<ReturnType<typeof startServer>>

async function readGreeting(child: ChildProcess): Promise<{ url: string; token: string }> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += chunk
    const url = /listens on (\S+)/.exec(text)?.[1]?.replace(/\/+$/, '')
    const token = /^ {2}(plant_\S+)$/m.exec(text)?.[1] ?? ''
    if (url !== undefined) return { url, token }
  }
  throw new Error(`the server ended after: ${text}`)
}

/**
 * Starts the real server in a process of its own, over a file of its own, which ends with the test;
 * `flags` such as `--max-…=1` are its settings. `token` may create plants.
 */
export async function startServer(flags: readonly string[] = []) {
  const path = join(makeTemporaryFolder(), 'plants.db')
  const databaseUrl = `sqlite:${path}`
  const listen = `127.0.0.1:${await findFreePort()}`
  let child: ChildProcess | undefined

  async function start() {
    const own = [`--database-url=${databaseUrl}`, `--listen=${listen}`, '--operations-listen=off']
    child = spawn(process.execPath, [SERVER, 'serve', ...own, '--log-level=silent', ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return readGreeting(child)
  }

  async function stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    child.kill(signal)
    await closed
  }

  const migrate = [SERVER, 'migrate', `--database-url=${databaseUrl}`]
  execFileSync(process.execPath, migrate, { stdio: 'ignore' })
  onTestFinished(() => stop('SIGKILL'))
  return {
    ...(await start()),
    databaseUrl,
    /** Starts it again over the same file, at the same URL. */
    start,
    /** Ends the process: by SIGTERM in order, by SIGKILL at once. */
    stop,
    /** The names and tags that its file holds now, by their ids. */
    readPlants() {
      const database = new DatabaseSync(path, { timeout: 10_000 })
      const select = database.prepare('SELECT id, name, tag FROM plants')
      select.setReadBigInts(true)
      const rows = select.all().map(({ id, name, tag }) => {
        return [id as bigint, { name: String(name), tag: tag as string | null }] as const
      })
      database.close()
      return new Map(rows)
    },
  }
}
