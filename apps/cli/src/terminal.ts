import type { ReadStream } from 'node:tty'
import picocolors from 'picocolors'
import type { Environment } from './environment.ts'
import { escapeUnits, printable } from './printable.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** A piece of a text in a style of its own, where there are colours. */
export interface Styled {
  readonly style: Style
  readonly text: string
}

export function bold(text: string): Styled {
  return { style: 'bold', text }
}

export function red(text: string): Styled {
  return { style: 'red', text }
}

/** Pieces of one text. What they hold may come from anywhere: it is escaped, styles are not. */
export type Pieces = readonly (string | Styled)[]

/** How a command reaches the process around it. */
export interface Terminal {
  /** Writes results, in whole lines, to stdout; characters that control a terminal are escaped. */
  readonly out: (text: string) => void
  /**
   * Writes everything else, to stderr: one line in each call. Line breaks in it and characters that
   * control a terminal are escaped.
   */
  readonly err: (...pieces: Pieces) => void
  /** Writes to stderr as it is: for a progress bar. */
  readonly draw: (text: string) => void
  /** Escapes a text of one line and gives it its style, for `draw`. */
  readonly render: (...pieces: Pieces) => string
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

/** A text of one line that a terminal shows and does not obey. */
function escapeLine(text: string): string {
  return printable(text).replaceAll('\n', escapeUnits)
}

export function createTerminal(
  streams: ProcessStreams,
  environment: Environment,
  stop: AbortSignal,
): Terminal {
  const { stdout, stderr } = streams
  const isTerminal = stderr.isTTY === true && environment.TERM !== 'dumb'
  // https://no-color.org: any value but the empty one
  const colors = picocolors.createColors(isTerminal && !environment.NO_COLOR)
  const renderPiece = (piece: string | Styled) =>
    typeof piece === 'string' ? escapeLine(piece) : colors[piece.style](escapeLine(piece.text))
  const render = (...pieces: Pieces) => pieces.map(renderPiece).join('')
  return {
    out: (text) => stdout.write(printable(text)),
    err: (...pieces) => stderr.write(`${render(...pieces)}\n`),
    draw: (text) => stderr.write(text),
    render,
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
