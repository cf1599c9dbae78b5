import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'

/** A process; another one that gets the same number later is not the same. */
export interface ProcessIdentity {
  readonly host: string
  readonly pid: number
  /** When it began, in the words of the system; undefined where the system has no file for it. */
  readonly began?: string | undefined
}

/** Fields of /proc/PID/stat behind the name, which may itself hold blanks and brackets (proc_pid_stat(5)). */
const STATE = 3 - 3
const START_TIME = 22 - 3

async function readBegin(pid: number): Promise<string | undefined> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A killed process stays in the table until its parent asks for it.
    return fields[STATE] === 'Z' ? undefined : `${boot.trim()} ${fields[START_TIME]}`
  } catch {
    return undefined
  }
}

/** This process. */
export async function identifyOwnProcess(): Promise<ProcessIdentity> {
  return { host: hostname(), pid: process.pid, began: await readBegin(process.pid) }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whether the process still runs; undefined where it ran on another host, which cannot be asked. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean | undefined> {
  const { host, pid, began } = identity
  if (host !== hostname()) return undefined
  if (!exists(pid)) return false
  return began === undefined || (await readBegin(pid)) === began
}
