import { readdirSync, readFileSync } from 'node:fs'
import { createHistogram } from 'node:perf_hooks'

// Processor time and memory are those of /proc on Linux; elsewhere all of them are NaN.

const TICKS_PER_SECOND = 100

const NS_IN_MS = 1e6

function read(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}

/** Of /proc/PID/stat: the parent, and the times of the process and of its children that have ended. */
function readTimes(pid: number | string) {
  const [, parent, ...rest] = read(`${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ')
  const secondsAt = (index: number) =>
    (Number(rest[index]) + Number(rest[index + 1])) / TICKS_PER_SECOND
  return { parent, own: secondsAt(9), ended: secondsAt(11) }
}

/** The processor time of a process and its children so far, in seconds. */
export function cpuSeconds(pid: number): number {
  const { own, ended } = readTimes(pid)
  if (Number.isNaN(own)) return own
  const children = readdirSync('/proc')
    .map(readTimes)
    .filter(({ parent }) => parent === String(pid))
  return children.reduce((sum, child) => sum + child.own, own + ended)
}

/** That of the children of this process that have ended. */
export const endedChildrenSeconds = (): number => readTimes('self').ended

/** The most memory that a process has had resident, in MiB. */
export function mostMib(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(read(`${pid}/status`))?.[1]) / 1_024
}

/** Counts times from 1 ns to 100 s, exact to three digits. */
export function createTimes() {
  const times = createHistogram({ lowest: 1, highest: 1e11, figures: 3 })
  const percentile = (percent: number) => times.percentile(percent) / NS_IN_MS
  return {
    add: (ms: number) => times.record(Math.max(1, Math.round(ms * NS_IN_MS))),
    summary: () => ({ count: times.count, p50Ms: percentile(50), p99Ms: percentile(99) }),
  }
}
