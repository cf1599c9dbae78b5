import { backup, type DatabaseSync } from 'node:sqlite'
import type { CopyOptions, StoreContents } from '../../../store/engine.ts'
import { StoreRefusedError } from '../../../store/store.ts'
import { toStoreError } from '../files/result-codes.ts'
import { connect } from './connect.ts'
import { readContents } from './contents.ts'
import { digestRows, readDigest, refuseChangedContent, writeDigest } from './digest.ts'
import { openForReading, refuseCorrupt } from './inspect.ts'
import { refuseStrangeSchema } from './schema.ts'

/** A store or a backup that was read to its last byte, in a transaction that sees it as it was. */
export interface HeldStore {
  readonly database: DatabaseSync
  readonly contents: StoreContents
  readonly sha256: string
  /** Whether it is a backup that holds what its digest is of; others carry none. */
  readonly isDigested: boolean
}

/**
 * Opens a store or a backup for reading, and checks its schema, its pages and the digest of its
 * rows. To be closed by the caller; others may write to the file meanwhile.
 * @throws StoreRefusedError when it is not as it was made.
 */
export async function holdStore(path: string, signal?: AbortSignal): Promise<HeldStore> {
  const database = openForReading(path, 'integrity_check')
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

/** What a copy must hold; without `sha256` its rows are counted alone. */
export interface ExpectedCopy {
  readonly contents: StoreContents
  readonly sha256?: string
}

/**
 * Checks a copy to its last byte, gives it the digest of its rows, and makes it one file that needs
 * no write-ahead log beside it.
 * @throws StoreRefusedError when it does not hold what it should.
 */
export async function finishCopy(
  path: string,
  { contents, sha256 }: ExpectedCopy,
  signal?: AbortSignal,
): Promise<void> {
  const copy = connect(path)
  try {
    copy.exec('PRAGMA journal_mode = delete')
    refuseStrangeSchema(copy, path)
    refuseCorrupt(copy, path, 'integrity_check')
    const actual = readContents(copy)
    if (actual.plants !== contents.plants || actual.tokens !== contents.tokens) {
      throw new StoreRefusedError(
        `${path} holds ${actual.plants} plants and ${actual.tokens} tokens ` +
          `instead of ${contents.plants} and ${contents.tokens}`,
      )
    }
    const actualSha256 = await digestRows(copy, signal)
    refuseChangedContent(path, sha256, actualSha256)
    writeDigest(copy, actualSha256)
  } finally {
    copy.close()
  }
}

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
