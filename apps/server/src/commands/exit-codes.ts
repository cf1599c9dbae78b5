/** Exit codes, as sysexits.h names them. */
export const exitCodes = {
  ok: 0,
  /** Something unforeseen. */
  failure: 1,
  /** EX_DATAERR: some of what was given is not stored. */
  dataError: 65,
  /** EX_NOINPUT: a file that was named cannot be read. */
  noInput: 66,
  /** EX_UNAVAILABLE: the store must not or cannot be used now. */
  unavailable: 69,
  /** EX_CANTCREAT: a file that was named exists already or cannot be made. */
  cannotCreate: 73,
  /** EX_IOERR: the store failed while it was in use. */
  ioError: 74,
  /** EX_TEMPFAIL: it was asked to end before it was done. */
  stopped: 75,
  /** EX_CONFIG: the command line or a setting is wrong. */
  config: 78,
} as const
