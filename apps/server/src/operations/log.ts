import { type DestinationStream, type Logger, pino } from 'pino'
import { printable } from '../text/printable.ts'
import { withoutCredentials } from '../text/without-credentials.ts'

/** A line that shows as one line whatever shows it, and opens no door. */
function clean(line: string): string {
  return withoutCredentials(printable(line))
}

interface Described {
  readonly type: string
  readonly message: string
  readonly code: unknown
  readonly stack: string | undefined
  readonly cause: Described | string | undefined
}

/**
 * An error without what drivers add to it: PostgreSQL's `detail` and `where` may hold a plant.
 * A cause that is text is the stack of an error from another thread.
 */
function describeError(error: unknown): Described | string | undefined {
  if (!(error instanceof Error)) return error === undefined ? undefined : String(error)
  const { name, message, stack, cause } = error
  const { code } = error as NodeJS.ErrnoException
  return { type: name, message, code, stack, cause: describeError(cause) }
}

/** Lines that could not be written and are kept until there is room again. */
const KEPT_BYTES = 1_048_576

/**
 * Writes to standard error, each line before the call returns, so that no end can lose one. Where
 * that cannot be written to, such as a file on a full disk, the service goes on.
 */
function standardError(): DestinationStream {
  const destination = pino.destination({ fd: 2, sync: true, maxLength: KEPT_BYTES })
  destination.on('error', () => {})
  return destination
}

/** Logs JSON, a line for each event. */
export function createLog(level: string, destination = standardError()): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    { write: (line: string) => destination.write(clean(line)) },
  )
}

/**
 * Changes between the level that was set and `debug`; where that is `debug` or `trace` already,
 * between it and `info`. Says so at `info`.
 */
export function createLevelSwitch(log: Logger): () => void {
  const setLevel = log.level
  const other = log.isLevelEnabled('debug') ? 'info' : 'debug'
  return () => {
    log.level = log.level === setLevel ? other : setLevel
    log.info({ logLevel: log.level }, 'log level changed')
  }
}
