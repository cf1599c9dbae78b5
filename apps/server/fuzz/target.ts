import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServerProcess } from '../test/process/server-process.ts'

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

/** proc_pid_status(5) in bytes; NaN where the system has none. */
function readMemory(pid: number, field: string): number {
  if (!existsSync('/proc/self/status')) return Number.NaN
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) * 1_024
}

/** Starts the built program as `pnpm start` does, beside flags of Node that are under suspicion. */
export async function startTarget(nodeFlags: readonly string[] = []): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-fuzz-'))
  let kill = () => {}
  const server = await startServerProcess({
    folder,
    nodeFlags,
    environment: { PLANT_STORE_LOG_LEVEL: 'warn' },
    onStart(end) {
      kill = end
      process.once('exit', end)
    },
  })
  let exit: number | string | null = null
  void server.ended.then(({ code, signal }) => {
    exit = code ?? signal
  })
  return {
    ports: { service: server.port, operations: Number(new URL(server.operationsUrl).port) },
    token: server.token,
    memoryBytes: (field = 'VmRSS') => readMemory(server.pid, field),
    complaint() {
      const lines = server
        .output()
        .split('\n')
        .filter((line) => line !== '' && !LIMITS.test(line))
      if (exit !== null) return `the server ended with ${exit}\n${lines.join('\n')}`
      return lines[0] && `the server logs:\n${lines.join('\n')}`
    },
    async stop(signal) {
      const timer = setTimeout(kill, STOP_MS)
      const { code } = await server.end(signal)
      clearTimeout(timer)
      process.off('exit', kill)
      rmSync(folder, { recursive: true, force: true })
      return code
    },
  }
}
