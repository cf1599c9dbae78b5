import type { OperatorHints } from '../store/store.ts'

/** Exit codes, as sysexits.h names them. */
export const exitCodes = {
  ok: 0,
  /** Something unforeseen. */
  failure: 1,
  /** EX_DATAERR: the store is damaged, and what could not be read was left out. */
  damaged: 65,
  /** EX_NOINPUT: a named file cannot be read. */
  noInput: 66,
  /** EX_UNAVAILABLE: the store must not or cannot be used now. */
  unavailable: 69,
  /** EX_CANTCREAT: a named file exists already or cannot be created. */
  cannotCreate: 73,
  /** EX_IOERR: the store failed while it was in use. */
  ioError: 74,
  /** EX_TEMPFAIL: a signal stopped the command before its end. */
  stopped: 75,
  /** EX_CONFIG: the command line or a setting is wrong. */
  config: 78,
} as const

/** A command that cannot do its work. */
export class CommandError extends Error {
  override name = 'CommandError'
  readonly exitCode: number
  readonly fix: string | undefined

  constructor(message: string, exitCode: number, options: OperatorHints = {}) {
    super(message, options)
    this.exitCode = exitCode
    this.fix = options.fix
  }
}
