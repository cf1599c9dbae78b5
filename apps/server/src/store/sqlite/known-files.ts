import { renameSync, statSync } from 'node:fs'
import { OutcomeUnknownError } from '../store.ts'

/** A file by what tells it from any other under its name; passes a thread boundary. */
export interface KnownFile {
  readonly path: string
  readonly device: bigint
  readonly inode: bigint
}

function look(path: string): KnownFile | undefined {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stats && { path, device: stats.dev, inode: stats.ino }
  } catch (cause) {
    throw new OutcomeUnknownError(`${path} cannot be found any more`, { cause })
  }
}

/** The files of a store that a connection has open: the database and its write-ahead log. */
export function knowFiles(path: string): KnownFile[] {
  return [path, `${path}-wal`].map(look).filter((file) => file !== undefined)
}

function isSame(file: KnownFile, now = look(file.path)): boolean {
  return now?.device === file.device && now.inode === file.inode
}

/**
 * Finds out whether files were deleted or replaced: what SQLite then writes into those that it has
 * open, nobody will ever find.
 * @throws OutcomeUnknownError naming the first that was.
 */
export function requireSameFiles(files: readonly KnownFile[]): void {
  for (const file of files) {
    const now = look(file.path)
    if (isSame(file, now)) continue
    const change = now === undefined ? 'was deleted or moved' : 'was replaced by another file'
    throw new OutcomeUnknownError(`${file.path} ${change} while it was open`)
  }
}

/**
 * Gives the log of a database that was replaced a name of its own: SQLite would take it for the log
 * of the one that is there now, and mix both.
 */
export function setLogAside([database, log]: readonly KnownFile[]): void {
  if (database === undefined || log === undefined) return
  const now = look(database.path)
  if (now === undefined || isSame(database, now) || !isSame(log)) return
  renameSync(log.path, `${log.path}.replaced-${Date.now()}`)
}
