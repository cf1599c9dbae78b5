/**
 * Characters that a terminal obeys instead of showing, or that end a line in some viewers: controls
 * (C0, DEL, C1), invisible formatting such as marks of direction, separators of lines and paragraphs,
 * and lone surrogates. By Unicode's General_Category (UAX #44).
 */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** Escapes UTF-16 code units as JSON does, so that they are shown and not obeyed. */
function escapeUnits(text: string): string {
  const codes = text.split('').map((unit) => unit.charCodeAt(0).toString(16))
  return codes.map((code) => `\\u${code.padStart(4, '0')}`).join('')
}

/** Text that a terminal shows and does not obey. Line feeds stay, and JSON keeps its value. */
function printable(text: string): string {
  return text.replace(UNSEEN, escapeUnits)
}

/** How a command reaches the process around it. */
export type Terminal = ReturnType<typeof createTerminal>

/** `stop` is aborted when the process must end. */
export function createTerminal(stop: AbortSignal) {
  const { stdout, stderr } = process
  const { PLANT_STORE_BASE_URL, PLANT_STORE_TOKEN, TERM } = process.env
  return {
    /** Writes results, in whole lines, to stdout; characters that control a terminal are escaped. */
    out: (text: string) => stdout.write(printable(text)),
    /** Writes a line to stderr; line breaks in it are escaped, too. */
    err: (text: string) => stderr.write(`${printable(text).replaceAll('\n', escapeUnits)}\n`),
    /** Writes to stderr as it is. */
    draw: (text: string) => stderr.write(text),
    get input() {
      return process.stdin
    },
    /** Whether a person sees stderr, so that a line can be redrawn. */
    isTerminal: stderr.isTTY === true && TERM !== 'dumb',
    /** Whether that person can be asked, too: stdin is a terminal as well. */
    get isInteractive() {
      return stderr.isTTY === true && process.stdin.isTTY === true
    },
    /** How many characters a line of stderr has now; 80 where there is no terminal. */
    get columns() {
      return stderr.columns || 80
    },
    stop,
    /** What is taken from the environment; a variable that is empty counts as not set. */
    environment: {
      baseUrl: PLANT_STORE_BASE_URL || undefined,
      token: PLANT_STORE_TOKEN || undefined,
    },
  }
}
