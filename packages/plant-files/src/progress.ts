import { printableLine } from './printable.ts'

export interface ProgressState {
  /** From 0 to 1; undefined where the total is unknown. */
  readonly fraction?: number | undefined
  /** What was done so far, the most important first: `{ stored: 12, rejected: 0 }`. */
  readonly counts?: Readonly<Record<string, number>> | undefined
  /** How many are done in a second now. */
  readonly perSecond?: number | undefined
  /** What the work is, such as `of plants.db copied`. */
  readonly text?: string | undefined
  /** What is waited for, such as `the server asks to wait 3 s`, instead of rate and time left. */
  readonly note?: string | undefined
}

/** `auto` is a bar on a terminal and plain lines elsewhere; `json` is an object on each line. */
export const progressModes = ['auto', 'bar', 'plain', 'json', 'never'] as const
export type ProgressMode = (typeof progressModes)[number]

export interface ProgressTarget {
  /** Writes to the terminal or the log, unescaped. */
  readonly write: (text: string) => void
  /** Writes a line that ends with a line feed; by default escaped, with `write`. */
  readonly writeLine?: ((text: string) => void) | undefined
  /** Whether a person watches, so that a line can be redrawn. */
  readonly isInteractive: boolean
  /** The terminal's width now; 80 where it is unknown. */
  readonly columns?: (() => number | undefined) | undefined
  readonly mode?: ProgressMode | undefined
}

export interface Progress {
  /** Writes a line for people without disturbing the bar. */
  line(text: string): void
  /** Removes the bar. */
  end(): void
}

const PERIODS_MS = { bar: 100, plain: 10_000, json: 1_000 } as const

const WIDEST_BAR = 24
const NARROWEST_BAR = 8

/** To the start of the line, and clear it (ECMA-48 EL). */
const CLEAR_LINE = '\r\u001b[K'

const numbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** `0:09`, `1:02:03` */
export function formatSeconds(seconds: number): string {
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  const shown = parts[0] === 0 ? parts.slice(1) : parts
  return shown.map((part, index) => String(part).padStart(index === 0 ? 1 : 2, '0')).join(':')
}

interface Parts {
  /** What was done so far, the most important first. */
  readonly done: readonly string[]
  /** How fast it is and how long it takes, or what is waited for instead. */
  readonly pace: readonly string[]
}

function partsOf(state: ProgressState, secondsLeft: number | undefined): Parts {
  const { counts = {}, perSecond, text, note } = state
  const done = Object.entries(counts).map(([name, count]) => `${numbers.format(count)} ${name}`)
  const rate = perSecond === undefined ? [] : [`${numbers.format(perSecond)}/s`]
  const left = secondsLeft === undefined ? [] : [`${formatSeconds(secondsLeft)} left`]
  return {
    done: [...(text === undefined ? [] : [text]), ...done],
    pace: note ? [note] : [...rate, ...left],
  }
}

function formatPercent(fraction: number): string {
  return `${String(Math.floor(fraction * 100)).padStart(3)} %`
}

/** A line without a bar; where there is no room, what is least important is left out. */
function formatText(fraction: number | undefined, { done, pace }: Parts, room: number): string {
  const percent = fraction === undefined ? [] : [formatPercent(fraction)]
  const withFirst = (count: number) =>
    printableLine([...percent, ...done.slice(0, count), ...pace].join('  '))
  let count = done.length
  while (count > 0 && withFirst(count).length > room) count--
  const text = withFirst(count)
  return text.length > room ? `${text.slice(0, Math.max(room - 1, 0))}…` : text
}

/** A bar as wide as there is room for, or none; the line is never wider than the terminal. */
function formatBar(fraction: number | undefined, parts: Parts, columns: number): string {
  // Some terminals wrap when the last column is written.
  const room = columns - 1
  const text = formatText(fraction, parts, room)
  const width = Math.min(room - text.length - 3, WIDEST_BAR)
  if (fraction === undefined || width < NARROWEST_BAR) return text
  const filled = Math.floor(fraction * width)
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${text}`
}

/** The time left by the pace since the start, once there is one. */
function createClock(): (fraction: number | undefined) => number | undefined {
  const startedAt = performance.now()
  let first: number | undefined
  return (fraction) => {
    if (fraction === undefined) return undefined
    first ??= fraction
    const seconds = (performance.now() - startedAt) / 1_000
    return fraction > first
      ? Math.round((seconds * (1 - fraction)) / (fraction - first))
      : undefined
  }
}

/** Shows how far something is, as `read` says it, until `end` is called. */
export function startProgress(
  { write, writeLine, isInteractive, columns, mode = 'auto' }: ProgressTarget,
  read: () => ProgressState,
): Progress {
  const shown = mode === 'auto' ? (isInteractive ? 'bar' : 'plain') : mode
  const clear = shown === 'bar' ? CLEAR_LINE : ''
  const writeText = writeLine ?? ((text: string) => write(`${printableLine(text)}\n`))
  const timeLeft = createClock()

  function show(): void {
    const state = read()
    const fraction = state.fraction && Math.min(state.fraction, 1)
    const secondsLeft = timeLeft(fraction)
    const parts = partsOf(state, secondsLeft)
    if (shown === 'json') write(`${JSON.stringify({ ...state, fraction, secondsLeft })}\n`)
    else if (shown === 'bar') write(clear + formatBar(fraction, parts, columns?.() ?? 80))
    else {
      const percent = fraction === undefined ? [] : [formatPercent(fraction).trim()]
      writeText([...percent, ...parts.done, ...parts.pace].join(', '))
    }
  }

  const timer = shown === 'never' ? undefined : setInterval(show, PERIODS_MS[shown])
  timer?.unref()
  timeLeft(read().fraction)
  return {
    line(text) {
      if (clear !== '') write(clear)
      writeText(text)
    },
    end() {
      clearInterval(timer)
      if (clear !== '') write(clear)
    },
  }
}
