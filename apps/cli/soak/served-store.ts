import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'

const SERVER = fileURLToPath(new URL('../../server/dist/main.js', import.meta.url))

/** The real server in a process of its own, which counts what it is asked. */
export interface ServedStore {
  readonly url: string
  readonly token: string
  /** How many creates had this outcome since the server started. */
  count(outcome: string): Promise<number>
  /** The names in its file, by their ids. */
  readNames(): ReadonlyMap<bigint, string>
  kill(): Promise<void>
  /** Starts it again, on the same port over the same file. */
  start(): Promise<void>
}

const GREETING = /listens on (?<url>\S+).*metrics: (?<metrics>\S+)\n.*200 means durable/s

async function readGreeting(child: ChildProcess) {
  let text = ''
  child.stdout?.on('data', (chunk) => {
    text += text.length < 100_000 ? chunk : ''
  })
  for (;;) {
    const { url, metrics } = GREETING.exec(text)?.groups ?? {}
    // Only a first start has one, and prints it with the rest in one write.
    const token = /^ {2}(plant_\S+)$/m.exec(text)?.[1] ?? ''
    if (url !== undefined && metrics !== undefined) return { url, metrics, token }
    if (child.exitCode !== null) throw new Error(`the server ended after: ${text}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Starts a server over a new file in `folder`. */
export async function serveStore(folder: string): Promise<ServedStore> {
  const path = join(folder, 'plants.db')
  let listen = '127.0.0.1:0'

  async function start() {
    const flags = [`--database-url=sqlite:${path}`, `--listen=${listen}`, '--log-level=silent']
    const own = [SERVER, 'serve', ...flags, '--operations-listen=127.0.0.1:0']
    const child = spawn(process.execPath, own, { stdio: ['ignore', 'pipe', 'inherit'] })
    const { url, metrics, token } = await readGreeting(child)
    listen = new URL(url).host
    return { child, url, metrics, token }
  }

  let current = await start()
  const { url, token } = current
  return {
    url: url.replace(/\/+$/, ''),
    token,
    async count(outcome) {
      const text = await (await fetch(current.metrics)).text()
      const line = new RegExp(
        `^plant_store_creates_total\\{[^}]*outcome="${outcome}"[^}]*\\} (\\d+)`,
        'm',
      )
      return Number(line.exec(text)?.[1] ?? 0)
    },
    readNames() {
      const database = new DatabaseSync(path)
      const select = database.prepare('SELECT id, name FROM plants')
      select.setReadBigInts(true)
      const names = new Map(select.all().map(({ id, name }) => [id as bigint, String(name)]))
      database.close()
      return names
    },
    async kill() {
      const ended = once(current.child, 'exit')
      current.child.kill('SIGKILL')
      await ended
    },
    async start() {
      current = await start()
    },
  }
}
