import { resolve } from 'node:path'
import { backup, type DatabaseSync } from 'node:sqlite'
import type {
  BackedUp,
  BackUpOptions,
  CopyOptions,
  StoreContents,
  Verified,
} from '../../store/engine.ts'
import { finishCopy, readContents } from '../database/copy.ts'
import { digestRows, readDigest, refuseChangedContent } from '../database/digest.ts'
import { openForReading } from '../database/inspect.ts'
import { toStoreError } from '../files/error-codes.ts'
import { noteBackup } from '../files/last-backup.ts'
import { createNewFile } from '../files/new-file.ts'
import { realPathOf } from '../files/real-path.ts'
import { createFolderOf } from '../files/sync-files.ts'

/** A store or a backup that was read to its last byte, in a transaction that sees it as it was. */
export interface HeldStore {
  readonly database: DatabaseSync
  readonly contents: StoreContents
  readonly sha256: string
  /** Whether it is a backup that holds what its digest is of; others carry none. */
  readonly isDigested: boolean
}

export const REMEDY_OF_BACKUP = 'Try: another backup, or another copy of this one'

export interface HoldOptions extends Partial<CopyOptions> {
  /** What helps against damage; by default what helps a store. */
  readonly remedy?: string
}

/** The progress of a part of the work, as that of the whole; both are fractions. */
export function partOf(
  { onProgress }: Partial<CopyOptions>,
  from: number,
  to: number,
): (fraction: number) => void {
  return (fraction) => onProgress?.(from + (to - from) * Math.min(fraction, 1))
}

/**
 * Opens a store or a backup for reading, and checks its schema, its pages and the digest of its
 * rows. To be closed by the caller; others may write to the file meanwhile.
 * @throws StoreRefusedError when it is not as it was made.
 */
export async function holdStore(path: string, options: HoldOptions): Promise<HeldStore> {
  const { signal, onProgress, remedy } = options
  const database = openForReading(path, 'integrity_check', remedy)
  try {
    database.exec('BEGIN')
    const contents = readContents(database)
    const carried = readDigest(database)
    const onPlants = (plants: number) => onProgress?.(plants / contents.plants)
    const sha256 = await digestRows(database, signal, onPlants)
    refuseChangedContent(path, carried, sha256)
    return { database, contents, sha256, isDigested: carried !== undefined }
  } catch (error) {
    database.close()
    throw toStoreError(error, false)
  }
}

/** Reads a backup to its last byte, and changes nothing. */
export async function verifyBackup(file: string, options: CopyOptions): Promise<Verified> {
  const held = await holdStore(file, { ...options, remedy: REMEDY_OF_BACKUP })
  held.database.close()
  return { ...held.contents, isDigested: held.isDigested, sha256: held.sha256 }
}

/** 4 MB at a time: many enough for speed, few enough to stop soon. */
const PAGES_PER_STEP = 1_000

/** Of the time for a copy that is checked afterwards. */
const COPY_SHARE = 0.2

/** Of the time for a copy of a store that is read before. */
export const SOURCE_SHARE = 0.4

/**
 * Copies a store, which may be written to meanwhile, into an empty file, ends the transaction that
 * reads the store, and checks the copy. It holds what was committed when the store was opened, and
 * its digest.
 * @throws StoreRefusedError, StoreUnavailableError or OutcomeUnknownError; then the copy is no good.
 */
export async function copyStore(
  source: HeldStore,
  target: string,
  options: CopyOptions,
): Promise<void> {
  const { signal } = options
  const onCopied = partOf(options, 0, COPY_SHARE)
  const onRead = partOf(options, COPY_SHARE, 1)
  try {
    // Within a transaction, or else SQLite would begin the backup again after every commit of
    // another process, and under load never end (https://sqlite.org/backup.html).
    await backup(source.database, target, {
      rate: PAGES_PER_STEP,
      progress: ({ totalPages, remainingPages }) => {
        signal.throwIfAborted()
        onCopied(1 - remainingPages / totalPages)
      },
    })
    signal.throwIfAborted()
    // While it is read from, a store's log only grows, and copying that at once holds up creates.
    source.database.exec('COMMIT')
    const { plants } = source.contents
    await finishCopy(target, source, signal, (done) => onRead(done / plants))
  } catch (error) {
    throw toStoreError(error, false)
  }
}

async function note(path: string, file: string, { contents, sha256 }: HeldStore) {
  try {
    const finishedAt = new Date().toISOString()
    await noteBackup(realPathOf(path), { finishedAt, file, plants: contents.plants, sha256 })
    return undefined
  } catch (error) {
    // Who may read a store need not be allowed to write beside it.
    return (error as Error).message
  }
}

/**
 * Copies a store, which may be written to meanwhile, into a new file, for its owner only. It appears
 * under its name once it is complete, checked, with the digest of its content and on stable storage,
 * and never takes the place of another file. Its time is noted beside the store.
 * @throws StoreRefusedError and the like for the store, the error of open or link for the new file.
 */
export async function backUpStore(
  path: string,
  target: string,
  options: BackUpOptions,
): Promise<BackedUp> {
  const file = resolve(target)
  const { signal } = options
  const source = await holdStore(path, { signal, onProgress: partOf(options, 0, SOURCE_SHARE) })
  try {
    if (options.makesFolder) await createFolderOf(file)
    const copy = createNewFile(file)
    try {
      const onProgress = partOf(options, SOURCE_SHARE, 1)
      await copyStore(source, copy.temporaryPath, { signal, onProgress })
      await copy.publish()
      return { ...source.contents, noteError: await note(path, file, source) }
    } finally {
      copy.discard()
    }
  } finally {
    source.database.close()
  }
}
