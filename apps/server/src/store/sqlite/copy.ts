import { backup, DatabaseSync } from 'node:sqlite'
import { StoreRefusedError } from '../store.ts'
import { readContents, type StoreContents } from './contents.ts'
import { toStoreError } from './failures.ts'
import { openForReading, refuseCorrupt } from './inspect.ts'

export interface CopyOptions {
  /** Aborted to stop; the copy is then left unfinished. */
  readonly signal: AbortSignal
  /** Told from 0 to 1 how much is copied. */
  readonly onProgress?: ((fraction: number) => void) | undefined
}

/** 4 MB at a time: many enough for speed, few enough to stop soon. */
const PAGES_PER_STEP = 1_000

/**
 * Checks a copy to its last page, and makes it one file that needs no write-ahead log beside it.
 * @throws StoreRefusedError when it does not hold what it should.
 */
export function finishCopy(path: string, expected: StoreContents): void {
  const copy = new DatabaseSync(path)
  try {
    copy.exec('PRAGMA journal_mode = delete')
    refuseCorrupt(copy, path, 'integrity_check')
    const actual = readContents(copy)
    if (actual.plants === expected.plants && actual.tokens === expected.tokens) return
    throw new StoreRefusedError(
      `${path} holds ${actual.plants} plants and ${actual.tokens} tokens ` +
        `instead of ${expected.plants} and ${expected.tokens}`,
    )
  } finally {
    copy.close()
  }
}

/**
 * Copies a store, which may be written to meanwhile, into an empty file, and checks the copy.
 * The copy holds what was committed when it began.
 * @throws StoreRefusedError, StoreUnavailableError or OutcomeUnknownError; then the copy is no good.
 */
export async function copyStore(
  source: string,
  target: string,
  { signal, onProgress }: CopyOptions,
): Promise<StoreContents> {
  const database = openForReading(source)
  try {
    // Without a transaction around it, SQLite would begin the backup again after every commit
    // of another process, and under load never end (https://sqlite.org/backup.html).
    database.exec('BEGIN')
    const contents = readContents(database)
    await backup(database, target, {
      rate: PAGES_PER_STEP,
      progress: ({ totalPages, remainingPages }) => {
        signal.throwIfAborted()
        onProgress?.(1 - remainingPages / totalPages)
      },
    })
    signal.throwIfAborted()
    finishCopy(target, contents)
    return contents
  } catch (error) {
    throw toStoreError(error, false)
  } finally {
    database.close()
  }
}
