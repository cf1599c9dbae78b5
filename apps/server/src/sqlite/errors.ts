import { OutcomeUnknownError, StoreUnavailableError } from '../store/store.ts'

/** The code of an error of Node's permission model. */
export const FORBIDDEN = 'ERR_ACCESS_DENIED'

/** The code of an error of Node or of the operating system, such as ENOENT. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code
}

/** Primary result codes of SQLite (https://sqlite.org/rescode.html). */
const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
const SQLITE_NOMEM = 7
const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14
const SQLITE_NOTADB = 26

/** The shared-memory file could not grow: a full disk, met before anything was written. */
const SQLITE_IOERR_SHMSIZE = 4874

const FAULTS = new Set([SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_CANTOPEN, SQLITE_NOTADB])

/** After these a rollback leaves nothing behind, wherever they come from. */
const HARMLESS = new Map([
  [SQLITE_BUSY, 'the database is busy with another process'],
  [SQLITE_LOCKED, 'the database is locked'],
  [SQLITE_READONLY, 'the database is read-only'],
  [SQLITE_FULL, 'the disk is full'],
])

/** These are harmless only before COMMIT: within it they can come after the commit reached the log. */
const HARMLESS_BEFORE_COMMIT = new Map([
  [SQLITE_NOMEM, 'there is not enough memory'],
  [SQLITE_IOERR_SHMSIZE, 'the disk is full'],
])

/** The extended result code of an error of node:sqlite, or undefined for any other error. */
function resultCodeOf(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode
  return typeof code === 'number' ? code : undefined
}

function primaryCodeOf(error: unknown): number | undefined {
  const code = resultCodeOf(error)
  // The low byte of an extended code is its primary code (https://sqlite.org/rescode.html).
  return code === undefined ? undefined : code & 0xff
}

/** Whether a file or its folder could not be opened or written, rather than failed in use. */
export function isOfAccess(error: unknown): boolean {
  return [SQLITE_CANTOPEN, SQLITE_READONLY].includes(primaryCodeOf(error) ?? -1)
}

/** Whether an error says that the disk, or what this user may use of it, is full. */
export function isFull(error: unknown): boolean {
  if (['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')) return true
  return primaryCodeOf(error) === SQLITE_FULL || resultCodeOf(error) === SQLITE_IOERR_SHMSIZE
}

/** Whether SQLite could not open, read or write a file, which may come from a full disk. */
export function isOfFile(error: unknown): boolean {
  return [SQLITE_IOERR, SQLITE_CANTOPEN].includes(primaryCodeOf(error) ?? -1)
}

/** Whether pages are not as SQLite wrote them. */
export function isCorrupt(error: unknown): boolean {
  return primaryCodeOf(error) === SQLITE_CORRUPT
}

export function isBusy(error: unknown): boolean {
  return primaryCodeOf(error) === SQLITE_BUSY
}

/**
 * What an error means for a transaction that was then rolled back.
 * The harmless codes leave nothing behind. A fault (I/O error, corruption) and anything unforeseen
 * within COMMIT leave it open whether the commit reached the file. Any other error stays itself.
 */
export function toStoreError(error: unknown, duringCommit: boolean): unknown {
  const code = resultCodeOf(error)
  const primaryCode = primaryCodeOf(error)
  const harmless =
    HARMLESS.get(primaryCode ?? -1) ??
    (duringCommit ? undefined : HARMLESS_BEFORE_COMMIT.get(code ?? -1))
  if (harmless !== undefined) return new StoreUnavailableError(harmless, { cause: error })
  if (duringCommit || FAULTS.has(primaryCode ?? -1)) {
    return new OutcomeUnknownError(`SQLite failed with result code ${code}`, { cause: error })
  }
  return error
}
