import { readdirSync, readFileSync } from 'node:fs'

/** Of /proc on Linux, whatever the kernel's own. */
const TICKS_PER_SECOND = 100

/** What follows the name in /proc/PID/stat, whose name may hold blanks; nothing once it has ended. */
function readStat(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
  } catch {
    return []
  }
}

/**
 * The processor time of a process and its children so far, with those that have ended, in seconds;
 * undefined where there is no Linux to say so.
 */
export function readProcessSeconds(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ name, stat: readStat(name) }))
  const ticks = stats.map(({ name, stat }) => {
    if (name === String(pid)) return stat.slice(11, 15)
    return stat[1] === String(pid) ? stat.slice(11, 13) : []
  })
  return ticks.flat().reduce((sum, count) => sum + Number(count), 0) / TICKS_PER_SECOND
}
