import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const PROCESSES = '/proc'

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // A process that has ended, or one of another user.
    return []
  }
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

/**
 * The ids of other processes that have one of these files open, also under another name. Only those
 * that this user may look at, and none where there is no /proc or Node's permission model hides it.
 */
export function findUsers(paths: readonly string[]): number[] {
  const sought = new Set(paths.map(identityOf).filter((identity) => identity !== undefined))
  if (sought.size === 0) return []
  return namesIn(PROCESSES)
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((name) => {
      const folder = join(PROCESSES, name, 'fd')
      return namesIn(folder).some((fd) => sought.has(identityOf(join(folder, fd)) ?? ''))
    })
    .map(Number)
}
