import type { Terminal } from '../terminal.ts'

export interface ProgressState {
  /** From 0 to 1; undefined where the total is unknown. */
  readonly fraction: number | undefined
  /** What was done so far, the most important last: `{ rejected: 0, stored: 12 }`. */
  readonly counts: Readonly<Record<string, number>>
  /** What is waited for, instead of rate and time left. */
  readonly note: string | undefined
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

/** A line that is never wider than the terminal, with a bar before it where there is room for one. */
function formatBar(fraction: number | undefined, text: string, columns: number): string {
  // Some terminals wrap when the last column is written.
  const room = columns - 1
  if (text.length > room) return text.slice(text.length - Math.max(room, 0))
  const width = Math.min(room - text.length - 3, WIDEST_BAR)
  if (fraction === undefined || width < NARROWEST_BAR) return text
  const filled = Math.floor(fraction * width)
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${text}`
}

/** Rate and time left by what was done since the first look. */
function createPace(): (state: ProgressState) => string[] {
  let first: { at: number; total: number; fraction: number } | undefined
  return ({ fraction = 0, counts }) => {
    const at = performance.now() / 1_000
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
    first ??= { at, total, fraction }
    const seconds = at - first.at
    if (seconds < 0.1 || total === first.total) return []
    const rate = `${formatCount((total - first.total) / seconds)}/s`
    if (fraction <= first.fraction) return [rate]
    const left = (seconds * (1 - fraction)) / (fraction - first.fraction)
    return [rate, `${formatDuration(left)} left`]
  }
}

/** Shows how far something is: a bar on a terminal, elsewhere a plain line every ten seconds. */
export function startProgress(terminal: Terminal, read: () => ProgressState): Progress {
  const { isTerminal } = terminal
  const paceOf = createPace()

  function show(): void {
    const state = read()
    const fraction = state.fraction && Math.min(state.fraction, 1)
    const parts = [
      ...(fraction === undefined ? [] : [`${Math.floor(fraction * 100)} %`]),
      ...Object.entries(state.counts).map(([name, count]) => `${formatCount(count)} ${name}`),
      ...(state.note === undefined ? paceOf({ ...state, fraction }) : [state.note]),
    ]
    if (!isTerminal) terminal.err(parts.join(', '))
    else terminal.draw(CLEAR_LINE + formatBar(fraction, parts.join('  '), terminal.columns))
  }

  const timer = setInterval(show, isTerminal ? BAR_MS : PLAIN_MS)
  timer.unref()
  const clear = () => isTerminal && terminal.draw(CLEAR_LINE)
  paceOf(read())
  return {
    line(text) {
      clear()
      terminal.err(text)
    },
    end() {
      clearInterval(timer)
      clear()
    },
  }
}
