import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(import.meta.resolve('@plant-store/server/main.js'))

const MEMORY_LOOK_MS = 20

/** A million plants take half a minute on a small machine; nobody waits for a program that hangs. */
const LIMIT_MS = 600_000

export interface Transfer {
  readonly seconds: number
  /** Of `export` and of `load`; NaN where the system does not tell. */
  readonly peakBytes: { readonly export: number; readonly load: number }
}

/** A program's peak of memory so far (VmHWM of proc_pid_status(5)). */
function readPeakBytes({ pid }: ChildProcess): number {
  try {
    const kibibytes = /^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kibibytes) * 1024
  } catch {
    return Number.NaN
  }
}

interface Watched {
  /** The peak of memory. @throws when the program fails. */
  readonly ended: Promise<number>
}

function watch(child: ChildProcess): Watched {
  let peakBytes = Number.NaN
  const timer = setInterval(() => {
    const seen = readPeakBytes(child)
    if (!Number.isNaN(seen)) peakBytes = seen
  }, MEMORY_LOOK_MS)
  async function end(): Promise<number> {
    const [code, signal] = await once(child, 'exit')
    clearInterval(timer)
    if (code === 0) return peakBytes
    throw new Error(`${child.spawnargs.slice(1, 3).join(' ')} ended with ${code ?? signal}`)
  }
  return { ended: end() }
}

/** `plant-store-server export | plant-store-server load -` */
export async function transfer(sourceUrl: string, targetUrl: string): Promise<Transfer> {
  const startedAt = performance.now()
  const options = { env: { PATH: process.env.PATH }, timeout: LIMIT_MS }
  const reader = spawn(
    process.execPath,
    [PROGRAM, 'load', '-', '--format', 'jsonl', '--database-url', targetUrl],
    { ...options, stdio: ['pipe', 'inherit', 'inherit'] },
  )
  const writer = spawn(process.execPath, [PROGRAM, 'export', '--database-url', sourceUrl], {
    ...options,
    stdio: ['ignore', reader.stdin, 'inherit'],
  })
  const ended = Promise.all([watch(writer).ended, watch(reader).ended])
  // Ours would keep the reader waiting when the writer has ended.
  reader.stdin.destroy()
  const [exportBytes, loadBytes] = await ended
  return {
    seconds: (performance.now() - startedAt) / 1_000,
    peakBytes: { export: exportBytes, load: loadBytes },
  }
}
