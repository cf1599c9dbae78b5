import type { Terminal } from '../terminal.ts'

const REDRAW_MS = 1_000
/** Where no line can be redrawn. */
const PLAIN_MS = 10_000

/** To the start of the line, and clear it (ECMA-48 EL). */
const CLEAR_LINE = '\r\u001b[K'

/** 1,234,567 */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en-US')
}

/** 4:05, or 1:02:03 */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  const parts = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60]
  const shown = parts[0] === 0 ? parts.slice(1) : parts
  return shown.map((part, index) => String(part).padStart(index === 0 ? 1 : 2, '0')).join(':')
}

export type Progress = ReturnType<typeof startProgress>

/** Shows one line again and again: in its place on a terminal, elsewhere every ten seconds. */
export function startProgress(terminal: Terminal, describe: () => string) {
  const { isTerminal, draw, err } = terminal
  const show = () => {
    // Some terminals wrap when the last column is written.
    if (isTerminal) draw(CLEAR_LINE + describe().slice(0, Math.max(0, terminal.columns - 1)))
    else err(describe())
  }
  const timer = setInterval(show, isTerminal ? REDRAW_MS : PLAIN_MS)
  timer.unref()
  const clear = () => isTerminal && draw(CLEAR_LINE)
  return {
    /** Writes a line for people without disturbing that of the progress. */
    line(text: string): void {
      clear()
      err(text)
    },
    /** Removes the line of the progress. */
    end(): void {
      clearInterval(timer)
      clear()
    },
  }
}
