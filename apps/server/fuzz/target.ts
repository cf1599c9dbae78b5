import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

const MAIN = join(import.meta.dirname, '../dist/main.js')

/** A server process as it is shipped, with a SQLite file and a token of its own. */
export interface Target {
  readonly ports: { readonly service: number; readonly operations: number }
  readonly token: string
  /** Its resident memory; the largest that it ever was with `VmHWM`. NaN where the system reports none. */
  memoryBytes(field?: 'VmRSS' | 'VmHWM'): number
  /** What it has to say against itself: its end, or a line of a warning, an error or no JSON. */
  complaint(): string | undefined
  /** Ends it in order, or at once with SIGKILL; gives its exit code, null where it was killed. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

/** What may be logged at `warn`: that a limit acts. */
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

interface Spawned {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  /** What standard error holds so far. */
  output(): string
  /** Ends it by `signal`, and by force where that takes too long. */
  end(signal: NodeJS.Signals): Promise<void>
}

function spawnServer(nodeFlags: readonly string[]): Spawned {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-fuzz-'))
  const anyPort = '127.0.0.1:0'
  const env = {
    PLANT_STORE_LISTEN: anyPort,
    PLANT_STORE_OPERATIONS_LISTEN: anyPort,
    PLANT_STORE_LOG_LEVEL: 'warn',
  }
  const child = spawn(process.execPath, [...nodeFlags, MAIN], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    output += chunk
  })
  const ended = once(child, 'close')
  return {
    child,
    output: () => output,
    async end(signal) {
      child.kill(signal)
      const timer = setTimeout(kill, STOP_MS)
      await ended
      clearTimeout(timer)
      process.off('exit', kill)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** proc_pid_status(5) in bytes; NaN where the system has none. */
function readMemory(pid: number | undefined, field: string): number {
  if (!existsSync('/proc/self/status')) return Number.NaN
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) * 1_024
}

/** Starts the built program as `pnpm start` does, beside flags of Node that are under suspicion. */
export async function startTarget(nodeFlags: readonly string[] = []): Promise<Target> {
  const { child, output, end } = spawnServer(nodeFlags)
  const greeting = await readGreeting(child)
  return {
    ports: {
      service: portOf(/listens on (\S+)/.exec(greeting)?.[1]),
      operations: portOf(/Health: (\S+)\/livez/.exec(greeting)?.[1]),
    },
    token: /^ {2}(plant_\S+)$/m.exec(greeting)?.[1] ?? '',
    memoryBytes: (field = 'VmRSS') => readMemory(child.pid, field),
    complaint() {
      const lines = output()
        .split('\n')
        .filter((line) => line !== '' && !LIMITS.test(line))
      const exit = child.exitCode ?? child.signalCode
      if (exit !== null) return `the server ended with ${exit}\n${lines.join('\n')}`
      return lines[0] && `the server logs:\n${lines.join('\n')}`
    },
    async stop(signal = 'SIGTERM') {
      await end(signal)
      return child.exitCode
    },
  }
}
