import { printableLine } from './printable.ts'

export interface ProgressState {
  /** From 0 to 1; undefined where the total is unknown. */
  readonly fraction?: number | undefined
  /** What was done so far, the most important first: `{ stored: 12, rejected: 0 }`. */
  readonly counts: Readonly<Record<string, number>>
  /** How many are done in a second now. */
  readonly perSecond?: number | undefined
  /** What is waited for, such as `the server asks to wait 3 s`. */
  readonly note?: string | undefined
}

/** `auto` is a bar on a terminal and plain lines elsewhere. */
export const progressModes = ['auto', 'bar', 'plain', 'json', 'never'] as const
export type ProgressMode = (typeof progressModes)[number]

export interface ProgressTarget {
  /** Writes to the terminal or the log, unescaped. */
  readonly write: (text: string) => void
  /** Whether a person watches, so that a line can be redrawn. */
  readonly isInteractive: boolean
  /** The terminal's width now; 80 where it is undefined. */
  readonly columns: () => number | undefined
  readonly mode: ProgressMode
}

export interface Progress {
  /** Writes a line for people without disturbing the bar. */
  line(text: string): void
  /** Removes the bar. */
  end(): void
}

/** Shows how far something is, from `read`, until `end` is called. */
export function startProgress(target: ProgressTarget, read: () => ProgressState): Progress {
  const clear = target.isInteractive ? '\r\u001b[K' : ''
  const timer = setInterval(() => target.write(`${clear}${JSON.stringify(read())}`), 10_000)
  timer.unref()
  return {
    line: (text) => target.write(`${clear}${printableLine(text)}\n`),
    end: () => clearInterval(timer),
  }
}
