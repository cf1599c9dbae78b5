import { printableLine } from '@plant-store/plant-files'
import type { Terminal } from './terminal.ts'

export interface ProgressState {
  /** From 0 to 1; undefined where the total is unknown. */
  readonly fraction: number | undefined
  /** The work done so far. */
  readonly text: string
}

export interface Progress {
  /** Writes a line for people without disturbing the bar. */
  line(text: string): void
  end(): void
}

const BAR_WIDTH = 24
const BAR_PERIOD_MS = 100
const LINE_PERIOD_MS = 5_000

/** To the start of the line, and clear it (ECMA-48 EL). */
const CLEAR_LINE = '\r\u001b[K'

function formatBar({ fraction, text }: ProgressState): string {
  if (fraction === undefined) return text
  const done = Math.min(fraction, 1)
  const filled = Math.floor(done * BAR_WIDTH)
  const percent = String(Math.floor(done * 100)).padStart(3)
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${percent} %  ${text}`
}

/** Shows how far a command is: a bar on a terminal, elsewhere a plain line every few seconds. */
export function startProgress(
  { err, draw, isInteractive }: Terminal,
  read: () => ProgressState,
): Progress {
  const clear = isInteractive ? CLEAR_LINE : ''
  const show = () =>
    isInteractive ? draw(clear + printableLine(formatBar(read()))) : err(`${read().text}\n`)
  const timer = setInterval(show, isInteractive ? BAR_PERIOD_MS : LINE_PERIOD_MS)
  timer.unref()
  return {
    line(text) {
      draw(clear)
      err(`${text}\n`)
    },
    end() {
      clearInterval(timer)
      draw(clear)
    },
  }
}

const numbers = new Intl.NumberFormat('en-US')

/** `1,234,567 plants`, `1 plant` */
export function describeCount(count: number, noun: string): string {
  return `${numbers.format(count)} ${noun}${count === 1 ? '' : 's'}`
}
