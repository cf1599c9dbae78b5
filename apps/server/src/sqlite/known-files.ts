import { renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { OutcomeUnknownError } from '../store/store.ts'

/** A file by what distinguishes it from any other under its name; can cross to another thread. */
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

/** File systems keep times at least this exact: of two changes within it, one may not show. */
const COARSEST_MS = 2_000

/** How long a folder in which nothing seems to change is believed. */
const BELIEVED_MS = 1_000

/** What changes when a file is made, deleted or replaced in a folder; undefined where that is unknown. */
function stateOf(folder: string): { readonly id: string; readonly changedAt: number } | undefined {
  try {
    const { dev, ino, ctimeMs } = statSync(folder)
    return { id: `${dev}:${ino}:${ctimeMs}`, changedAt: ctimeMs }
  } catch {
    return undefined
  }
}

/**
 * Gives a `requireSameFiles` to call after each commit. It looks at the folder as long as nothing
 * changes there: since Linux 6.13 a look at a file's times makes its next change of them a write of
 * its own, and the next sync of the log half as long again
 * (https://docs.kernel.org/filesystems/multigrain-ts.html).
 */
export function createFilesCheck(files: readonly KnownFile[]): () => void {
  const [file] = files
  if (file === undefined) return () => {}
  const folder = dirname(file.path)
  let believed: string | undefined
  let seenAt = 0
  return () => {
    const now = stateOf(folder)
    const at = performance.now()
    if (at - seenAt < BELIEVED_MS && now !== undefined && now.id === believed) return
    requireSameFiles(files)
    const isQuiet = now !== undefined && Date.now() - now.changedAt > COARSEST_MS
    believed = isQuiet ? now.id : undefined
    seenAt = at
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
