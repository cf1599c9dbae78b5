import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { MAIN } from '../process/main.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const PEAK_MEMORY = join(import.meta.dirname, 'peak-memory.ts')

/** Starts a line of shell in which `server` is the server's program, run by the words `under`; pipes fail with their parts. */
export function startShell(folder: string, line: string, under = '') {
  const memory = temporaryFolder()
  const program = `server() { ${under} '${process.execPath}' --import '${PEAK_MEMORY}' '${MAIN}' "$@"; }`
  const child = spawn('bash', ['-o', 'pipefail', '-c', `${program}\n${line}`], {
    cwd: folder,
    detached: true,
    env: { PATH: process.env.PATH, PEAK_MEMORY_FOLDER: memory },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => (out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk) => (err += chunk))
  onTestFinished(() => killAll(child))
  const ended = once(child, 'close').then(([code]: (number | null)[]) => {
    const peaks = readdirSync(memory).map((name) => readFileSync(join(memory, name), 'utf8'))
    /** The most memory that one of the programs held. */
    const peakMemoryMiB = Math.max(...peaks.map(Number), 0) / 1024
    return { code, out, err, peakMemoryMiB }
  })
  return { child, ended }
}

/** Runs a line of shell to its end. */
export function runShell(folder: string, line: string, under?: string) {
  return startShell(folder, line, under).ended
}

/** Kills a shell and what it started, which is a process group of its own. */
export function killAll({ pid }: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}
