import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { RunRecord } from './ends-file.ts'

/** `starttime`, the 22nd field of proc_pid_stat(5); the 2nd, in parentheses, may hold anything. */
function ticksOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    // No Linux, no such process, or Node's permission model.
    return undefined
  }
}

/** This process, so that a later one can find out whether it is gone. */
export function describeProcess(): Pick<RunRecord, 'pid' | 'host' | 'ticks'> {
  return { pid: process.pid, host: hostname(), ticks: ticksOf(process.pid) }
}

/**
 * Whether the process of a run that began on this host is gone. One of the same number is another
 * one where it began at another time, is this very process, or belongs to another user.
 */
export function isGone({ pid, host, ticks }: RunRecord): boolean {
  if (pid === undefined || host !== hostname()) return false
  if (pid === process.pid) return true
  try {
    process.kill(pid, 0)
  } catch {
    return true
  }
  const now = ticksOf(pid)
  return ticks !== undefined && now !== undefined && ticks !== now
}
