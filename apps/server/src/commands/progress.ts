import { printableLine } from '../text/printable.ts'
import type { Terminal } from './terminal.ts'

export interface ProgressState {
  /** From 0 to 1; undefined where the total is unknown. */
  readonly fraction?: number | undefined
  /** What was done so far: `{ plants: 12 }`. */
  readonly counts?: Readonly<Record<string, number>> | undefined
  /** How many are done in a second now. */
  readonly perSecond?: number | undefined
  /** What the work is, such as `of plants.db copied`. */
  readonly text?: string | undefined
}

export interface Progress {
  /** Writes a line for people without disturbing the bar. */
  line(text: string): void
  /** Removes the bar. */
  end(): void
}

const BAR_MS = 100
const PLAIN_MS = 10_000
const WIDEST_BAR = 24
const NARROWEST_BAR = 8

/** To the start of the line, and clear it (ECMA-48 EL). */
const CLEAR_LINE = '\r\u001b[K'

const numbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const roughNumbers = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 })

/** `0:09`, `1:02:03` */
function formatSeconds(seconds: number): string {
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  const shown = parts[0] === 0 ? parts.slice(1) : parts
  return shown.map((part, index) => String(part).padStart(index === 0 ? 1 : 2, '0')).join(':')
}

/** What there is to say, the most important last. */
function partsOf(state: ProgressState, secondsLeft: number | undefined): string[] {
  const { fraction, counts = {}, perSecond, text } = state
  return [
    ...(fraction === undefined ? [] : [`${Math.floor(fraction * 100)} %`]),
    ...(text === undefined ? [] : [text]),
    ...Object.entries(counts).map(([name, count]) => `${numbers.format(count)} ${name}`),
    ...(perSecond === undefined ? [] : [`${numbers.format(perSecond)}/s`]),
    ...(secondsLeft === undefined ? [] : [`${formatSeconds(secondsLeft)} left`]),
  ]
}

/** A bar as wide as there is room for, or none; the line is never wider than the terminal. */
function formatBar(fraction: number | undefined, parts: readonly string[], columns: number) {
  // Some terminals wrap when the last column is written.
  const room = columns - 1
  const text = printableLine(parts.join('  '))
  if (text.length > room) return text.slice(text.length - Math.max(room, 0))
  const width = Math.min(room - text.length - 3, WIDEST_BAR)
  if (fraction === undefined || width < NARROWEST_BAR) return text
  const filled = Math.floor(fraction * width)
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${text}`
}

/** Shows how far a command is: a bar on a terminal, elsewhere a plain line every ten seconds. */
export function startProgress(terminal: Terminal, read: () => ProgressState): Progress {
  const { err, draw, isInteractive, columns } = terminal
  const startedAt = performance.now()
  const first = read().fraction ?? 0

  function show(): void {
    const state = read()
    const fraction = state.fraction && Math.min(state.fraction, 1)
    const seconds = (performance.now() - startedAt) / 1_000
    const hasPace = fraction !== undefined && fraction > first
    const left = hasPace ? Math.round((seconds * (1 - fraction)) / (fraction - first)) : undefined
    const parts = partsOf({ ...state, fraction }, left)
    if (isInteractive) draw(CLEAR_LINE + formatBar(fraction, parts, columns() ?? 80))
    else err(`${parts.join(', ')}\n`)
  }

  const timer = setInterval(show, isInteractive ? BAR_MS : PLAIN_MS)
  timer.unref()
  const clear = () => isInteractive && draw(CLEAR_LINE)
  return {
    line(text) {
      clear()
      err(`${text}\n`)
    },
    end() {
      clearInterval(timer)
      clear()
    },
  }
}

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
