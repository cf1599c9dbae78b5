import type { ReadStream } from 'node:tty'
import type { Environment } from './environment.ts'
import { escapeUnits, printable } from './printable.ts'

/** How a command reaches the process around it. */
export interface Terminal {
  /** Writes results, in whole lines, to stdout; characters that control a terminal are escaped. */
  readonly out: (text: string) => void
  /**
   * Writes everything else, to stderr: one line in each call. Line breaks in it and characters that
   * control a terminal are escaped.
   */
  readonly err: (text: string) => void
  /** Writes to stderr as it is: for a progress bar. */
  readonly draw: (text: string) => void
  readonly input: ReadStream
  /** Whether a person sees stderr, so that a line can be redrawn. */
  readonly isTerminal: boolean
  /** Whether that person can be asked, too: stdin is a terminal as well. */
  readonly isInteractive: boolean
  /** How many characters a line of stderr has now; 80 where there is no terminal. */
  readonly columns: number
  /** Aborted when the process must end; the reason is the signal's name. A second signal ends it at once. */
  readonly stop: AbortSignal
  readonly environment: Environment
}

/** The part of a process that a terminal is made of. */
export type ProcessStreams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>

export function createTerminal(
  streams: ProcessStreams,
  environment: Environment,
  stop: AbortSignal,
): Terminal {
  const { stdout, stderr } = streams
  const isTerminal = stderr.isTTY === true && environment.TERM !== 'dumb'
  return {
    out: (text) => stdout.write(printable(text)),
    err: (text) => stderr.write(`${printable(text).replaceAll('\n', escapeUnits)}\n`),
    draw: (text) => stderr.write(text),
    get input() {
      return streams.stdin
    },
    isTerminal,
    get isInteractive() {
      return stderr.isTTY === true && streams.stdin.isTTY === true
    },
    get columns() {
      return stderr.columns || 80
    },
    stop,
    environment,
  }
}
