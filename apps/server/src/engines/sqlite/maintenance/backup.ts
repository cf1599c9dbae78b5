import { resolve } from 'node:path'
import { backup, type DatabaseSync } from 'node:sqlite'
import type { CopyOptions, StoreContents } from '../../../store/engine.ts'
import { finishCopy, readContents } from '../database/copy.ts'
import { digestRows, readDigest, refuseChangedContent } from '../database/digest.ts'
import { openForReading } from '../database/inspect.ts'
import { toStoreError } from '../files/error-codes.ts'
import { createNewFile } from '../files/new-file.ts'

/** A store or a backup that was read to its last byte, in a transaction that sees it as it was. */
export interface HeldStore {
  readonly database: DatabaseSync
  readonly contents: StoreContents
  readonly sha256: string
  /** Whether it is a backup that holds what its digest is of; others carry none. */
  readonly isDigested: boolean
}

export const REMEDY_OF_BACKUP = 'Try: another backup, or another copy of this one'

/**
 * Opens a store or a backup for reading, and checks its schema, its pages and the digest of its
 * rows. To be closed by the caller; others may write to the file meanwhile.
 * @throws StoreRefusedError when it is not as it was made.
 */
export async function holdStore(
  path: string,
  signal?: AbortSignal,
  remedy?: string,
): Promise<HeldStore> {
  const database = openForReading(path, 'integrity_check', remedy)
  try {
    database.exec('BEGIN')
    const contents = readContents(database)
    const carried = readDigest(database)
    const sha256 = await digestRows(database, signal)
    refuseChangedContent(path, carried, sha256)
    return { database, contents, sha256, isDigested: carried !== undefined }
  } catch (error) {
    database.close()
    throw toStoreError(error, false)
  }
}

/** 4 MB at a time: many enough for speed, few enough to stop soon. */
const PAGES_PER_STEP = 1_000

/**
 * Copies a store, which may be written to meanwhile, into an empty file, and checks the copy.
 * The copy holds what was committed when the store was opened, and its digest.
 * @throws StoreRefusedError, StoreUnavailableError or OutcomeUnknownError; then the copy is no good.
 */
export async function copyStore(
  source: HeldStore,
  target: string,
  { signal, onProgress }: CopyOptions,
): Promise<void> {
  try {
    // Within a transaction, or else SQLite would begin the backup again after every commit of
    // another process, and under load never end (https://sqlite.org/backup.html).
    await backup(source.database, target, {
      rate: PAGES_PER_STEP,
      progress: ({ totalPages, remainingPages }) => {
        signal.throwIfAborted()
        onProgress?.(1 - remainingPages / totalPages)
      },
    })
    signal.throwIfAborted()
    await finishCopy(target, source, signal)
  } catch (error) {
    throw toStoreError(error, false)
  }
}

/**
 * Copies a store, which may be written to meanwhile, into a new file, for its owner only. It appears
 * under its name once it is complete, checked, with the digest of its content and on stable storage,
 * and never takes the place of another file.
 * @throws StoreRefusedError and the like for the store, the error of open or link for the new file.
 */
export async function backUpStore(
  path: string,
  target: string,
  options: CopyOptions,
): Promise<StoreContents> {
  const source = await holdStore(path, options.signal)
  try {
    const copy = createNewFile(resolve(target))
    try {
      await copyStore(source, copy.temporaryPath, options)
      await copy.publish()
      return source.contents
    } finally {
      copy.discard()
    }
  } finally {
    source.database.close()
  }
}
