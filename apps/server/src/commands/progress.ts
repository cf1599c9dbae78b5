import {
  formatSeconds,
  type Progress,
  type ProgressState,
  startProgress as startProgressOn,
} from '@plant-store/plant-files'
import type { Terminal } from './terminal.ts'

/** Shows how far a command is: a bar on a terminal, elsewhere a plain line every ten seconds. */
export function startProgress(terminal: Terminal, read: () => ProgressState): Progress {
  const { err, draw, isInteractive, columns } = terminal
  const writeLine = (text: string) => err(`${text}\n`)
  return startProgressOn({ write: draw, writeLine, isInteractive, columns }, read)
}

const numbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const roughNumbers = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 })

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** `63 MB`, in powers of 1,000. */
function formatBytes(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3)
  const power = Math.min(step, UNITS.length - 1)
  return `${roughNumbers.format(bytes / 1_000 ** power)} ${UNITS[power]}`
}

/** What a command has done since `startedAt`, by performance.now(). */
export interface Work {
  readonly startedAt: number
  readonly count: number
  readonly bytes: number
}

/** `3.2 s`, `1:04` from a minute on. */
export function describeDuration(ms: number): string {
  const seconds = ms / 1_000
  return seconds < 60 ? `${roughNumbers.format(seconds)} s` : formatSeconds(Math.round(seconds))
}

function secondsOf({ startedAt }: Work): number {
  return (performance.now() - startedAt) / 1_000
}

/** How many in a second; undefined in the first tenth of a second, which says nothing. */
export function perSecond(work: Work): number | undefined {
  return secondsOf(work) < 0.1 ? undefined : work.count / secondsOf(work)
}

/** `63 MB in 3.2 s, 312,500 a second`, `1.2 GB in 1:04, 310,000 a second` */
export function describePace(work: Work): string {
  const took = describeDuration(performance.now() - work.startedAt)
  const rate = perSecond(work)
  const shown = rate === undefined ? '' : `, ${numbers.format(rate)} a second`
  return `${formatBytes(work.bytes)} in ${took}${shown}`
}
