import { type DestinationStream, type Logger, pino } from 'pino'
import { StoreUnavailableError } from '../store/store.ts'
import { printable } from '../text/printable.ts'
import { formatForPeople } from '../text/readable-line.ts'
import { withoutCredentials } from '../text/without-credentials.ts'

/** A line that stays one line wherever it is shown, without credentials. */
function clean(line: string): string {
  return withoutCredentials(printable(line))
}

/**
 * An error without the fields that drivers add: PostgreSQL's `detail` and `where` may hold a plant.
 * A cause that is text is the stack of an error from another thread.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error === undefined ? undefined : String(error)
  const { name, message, stack, cause } = error
  // SQLite's result code is `errcode`.
  const { code, errcode } = error as NodeJS.ErrnoException & { readonly errcode?: unknown }
  const { detail, fix } = error instanceof StoreUnavailableError ? error : {}
  return { type: name, message, code, errcode, detail, fix, stack, cause: describeError(cause) }
}

/** How much is kept, until there is room again, of lines that cannot be written. */
const KEPT_BYTES = 1_048_576

/**
 * Writes each line to standard error before the call returns, so that no line is lost at the end.
 * If standard error cannot be written, such as a file on a full disk, the service goes on.
 */
function standardError(): DestinationStream {
  const destination = pino.destination({ fd: 2, sync: true, maxLength: KEPT_BYTES })
  destination.on('error', () => {})
  return destination
}

/**
 * A log on standard error, by default of JSON: one line for each event.
 * `forPeople`: lines that people read, on a terminal.
 */
export function createLog(level: string, destination = standardError(), forPeople = false): Logger {
  const format = forPeople ? formatForPeople : clean
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    { write: (line: string) => destination.write(format(line)) },
  )
}

/**
 * Switches between the level that was set and `debug`, or `info` where `debug` or `trace` was set.
 * Each switch is logged at `info`.
 */
export function createLevelSwitch(log: Logger): () => void {
  const setLevel = log.level
  const other = log.isLevelEnabled('debug') ? 'info' : 'debug'
  return () => {
    log.level = log.level === setLevel ? other : setLevel
    log.info({ logLevel: log.level }, 'log level changed')
  }
}
