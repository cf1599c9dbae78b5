import type { Writable } from 'node:stream'
import type { WriteStream } from 'node:tty'

/** How a command reaches the process around it. */
export interface Terminal {
  /** Writes results, in whole lines; characters that control a terminal are escaped. */
  readonly out: (text: string) => void
  /**
   * Writes everything else that people read: one line in each call, with indented lines below it
   * where needed. Line breaks and characters that control a terminal are escaped, credentials left out.
   */
  readonly err: (text: string) => void
  /** Writes to the same place as `err` what is escaped already: a progress bar, a line of the log. */
  readonly draw: (text: string) => void
  /** The stream behind `out`: for data that must stay exact or may be larger than memory. */
  readonly output: Writable
  /** Whether `err` is a terminal that a person watches, so that a line can be redrawn. */
  readonly isInteractive: boolean
  /** The width of that terminal now; undefined where it is unknown. */
  readonly columns: () => number | undefined
  /** Aborted when the process must end; the reason is the signal's name. */
  readonly stop: AbortSignal
  /** Calls `change` at each signal to log more, or less again. */
  readonly onLogSignal: (change: () => void) => void
}

/** Whether results are shown on a terminal, too, and are for people: `isInteractive` says it of messages. */
export function showsResults({ output }: Pick<Terminal, 'output'>): boolean {
  return (output as Partial<WriteStream>).isTTY === true
}
