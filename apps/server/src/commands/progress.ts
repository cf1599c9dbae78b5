import type { CopyOptions } from '../store/engine.ts'
import { printableLine } from '../text/printable.ts'
import type { Terminal } from './terminal.ts'

export interface Progress {
  /** From 0 to 1; undefined where the total is unknown. */
  readonly fraction: number | undefined
  /** What the work is, such as `of plants.db copied`. */
  readonly text: string
}

/** What a command has done since `startedAt`, by performance.now(). */
export interface Work {
  readonly startedAt: number
  readonly count: number
  readonly bytes: number
}

const BAR_MS = 100
const PLAIN_MS = 10_000
const BAR_WIDTH = 24

/** To the start of the line, and clear it (ECMA-48 EL). */
const CLEAR_LINE = '\r\u001b[K'

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

const numbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const roughNumbers = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 })

/** `3.2 s`, `1:04`, `1:02:03` */
export function describeDuration(ms: number): string {
  const seconds = ms / 1_000
  if (seconds < 60) return `${roughNumbers.format(seconds)} s`
  const whole = Math.round(seconds)
  const parts = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60]
  const shown = parts[0] === 0 ? parts.slice(1) : parts
  return shown.map((part, index) => String(part).padStart(index === 0 ? 1 : 2, '0')).join(':')
}

/** A bar and words, never wider than the terminal. */
function formatBar(fraction: number | undefined, words: string, columns: number): string {
  // Some terminals wrap when the last column is written.
  const room = columns - 1
  const text = printableLine(words)
  const filled = Math.floor((fraction ?? 0) * BAR_WIDTH)
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] `
  const line = fraction === undefined || bar.length + text.length > room ? text : bar + text
  return line.slice(-Math.max(room, 1))
}

/**
 * Shows how far a command is, until the return value is called: a bar on a terminal, elsewhere a plain
 * line every ten seconds.
 */
export function startProgress(terminal: Terminal, read: () => Progress): () => void {
  const { err, draw, isInteractive, columns } = terminal
  const startedAt = performance.now()

  function show(): void {
    const { fraction: share, text } = read()
    const fraction = share && Math.min(share, 1)
    const left = fraction && ((performance.now() - startedAt) * (1 - fraction)) / fraction
    const parts = [
      fraction === undefined ? [] : `${Math.floor(fraction * 100)} %`,
      text,
      left === undefined || left === 0 ? [] : `${describeDuration(left)} left`,
    ].flat()
    if (isInteractive) draw(CLEAR_LINE + formatBar(fraction, parts.join('  '), columns() ?? 80))
    else err(`${parts.join(', ')}\n`)
  }

  const timer = setInterval(show, isInteractive ? BAR_MS : PLAIN_MS).unref()
  return () => {
    clearInterval(timer)
    if (isInteractive) draw(CLEAR_LINE)
  }
}

/** Shows how far a copy is while `work` makes it; `text` says what is done. */
export async function withProgress<Result>(
  terminal: Terminal,
  text: string,
  work: (options: CopyOptions) => Promise<Result>,
): Promise<Result> {
  let fraction = 0
  const onProgress = (done: number) => {
    fraction = done
  }
  const end = startProgress(terminal, () => ({ fraction, text }))
  return work({ signal: terminal.stop, onProgress }).finally(end)
}

/** `63 MB in 3.2 s, 312,500 a second`; the rate not in the first tenth of a second, which says nothing. */
export function describePace({ startedAt, count, bytes }: Work): string {
  const ms = performance.now() - startedAt
  const step = bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3)
  const power = Math.min(step, UNITS.length - 1)
  const size = `${roughNumbers.format(bytes / 1_000 ** power)} ${UNITS[power]}`
  const rate = ms < 100 ? '' : `, ${numbers.format((count * 1_000) / ms)} a second`
  return `${size} in ${describeDuration(ms)}${rate}`
}
