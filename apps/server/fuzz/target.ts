import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MAIN = join(import.meta.dirname, '../dist/main.js')

/** A server process as it is shipped, with a SQLite file and a token of its own. */
export interface Target {
  readonly ports: { readonly service: number; readonly operations: number }
  readonly token: string
  /** Its resident memory; the largest that it ever was with `VmHWM`. */
  memoryBytes(field?: 'VmRSS' | 'VmHWM'): number
  /** What it has to say against itself: its end, or a line of a warning, an error or no JSON. */
  complaint(): string | undefined
  /** Ends it in order, or at once with SIGKILL; gives its exit code, null where it was killed. */
  stop(signal?: 'SIGKILL'): Promise<number | null>
}

/** What may be told at `warn`: that a limit acts. */
const LIMITS = /"level":"warn".*"msg":"limits? /

const STOP_MS = 15_000

function portOf(url: string | undefined): number {
  return Number(new URL(url ?? '').port)
}

async function readGreeting(child: ChildProcess): Promise<string> {
  let greeting = ''
  for await (const chunk of child.stdout?.setEncoding('utf8') ?? []) {
    greeting += chunk
    if (/^ {2}curl .*\n\n/m.test(greeting)) return greeting
  }
  throw new Error(`the server ended with ${child.exitCode}`)
}

function endLater(child: ChildProcess): () => void {
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  return () => void process.off('exit', kill)
}

/** Starts the built program as `pnpm start` does, beside flags of Node that are under suspicion. */
export async function startTarget(nodeFlags: readonly string[] = []): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-fuzz-'))
  const anyPort = '127.0.0.1:0'
  const child = spawn(process.execPath, [...nodeFlags, MAIN], {
    cwd: folder,
    env: {
      PLANT_STORE_LISTEN: anyPort,
      PLANT_STORE_OPERATIONS_LISTEN: anyPort,
      PLANT_STORE_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const forget = endLater(child)
  let told = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    told += chunk
  })
  const ended = once(child, 'close')
  const greeting = await readGreeting(child)
  return {
    ports: {
      service: portOf(/listens on (\S+)/.exec(greeting)?.[1]),
      operations: portOf(/Health: (\S+)\/livez/.exec(greeting)?.[1]),
    },
    token: /^ {2}(plant_\S+)$/m.exec(greeting)?.[1] ?? '',
    memoryBytes(field = 'VmRSS') {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      return Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) * 1_024
    },
    complaint() {
      const lines = told.split('\n').filter((line) => line !== '' && !LIMITS.test(line))
      const { exitCode, signalCode } = child
      const end = exitCode ?? signalCode
      if (end !== null) return `the server ended with ${end}\n${lines.join('\n')}`
      return lines[0] && `the server tells:\n${lines.join('\n')}`
    },
    async stop(signal) {
      child.kill(signal ?? 'SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await ended
      clearTimeout(timer)
      forget()
      rmSync(folder, { recursive: true, force: true })
      return child.exitCode
    },
  }
}
