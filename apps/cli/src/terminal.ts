import type { ReadStream } from 'node:tty'

/** What the command line takes from the environment. */
export interface Environment {
  readonly PLANT_STORE_BASE_URL?: string | undefined
  readonly PLANT_STORE_TOKEN?: string | undefined
  readonly TERM?: string | undefined
}

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

/**
 * Characters that a terminal obeys instead of showing, or that end a line in some viewers: controls
 * (C0, DEL, C1), invisible formatting such as marks of direction, separators of lines and paragraphs,
 * and lone surrogates. By Unicode's General_Category (UAX #44).
 */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** Escapes UTF-16 code units as JSON does, so that they are shown and not obeyed. */
function escapeUnits(text: string): string {
  return Array.from({ length: text.length }, (_, index) => {
    return `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`
  }).join('')
}

/** Text that a terminal shows and does not obey. Line feeds stay, and JSON keeps its value. */
function printable(text: string): string {
  return text.replace(UNSEEN, escapeUnits)
}

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
