import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { OutcomeUnknownError, StoreUnavailableError } from '../store/store.ts'
import { isBusy, toStoreError } from './errors.ts'
import { createFilesCheck, type KnownFile } from './known-files.ts'

/** How long a transaction waits for another process that writes: the command line, a second server. */
export const BUSY_LIMIT_MS = 2_000

const BUSY_PAUSE_MS = 5

/** Runs work in transactions of one database; other processes may hold the file meanwhile. */
export interface Transactions {
  /**
   * Runs `work` in one write transaction, and resolves once its commit is on stable storage.
   * `work` may run more than once, each time from the start.
   * @throws StoreUnavailableError when nothing was stored, OutcomeUnknownError after a fault.
   */
  write<Result>(work: () => Result): Promise<Result>
  /** @throws StoreUnavailableError when the file cannot be read. */
  read<Result>(query: () => Result): Promise<Result>
}

/**
 * `onFault` is called with an I/O error or corruption, after which the file cannot be trusted;
 * `onCommit` with the duration of each COMMIT. A commit counts only while `files` are what they were.
 */
export function createTransactions(
  database: DatabaseSync,
  onFault: (fault: OutcomeUnknownError) => void,
  onCommit?: (durationMs: number) => void,
  files: readonly KnownFile[] = [],
): Transactions {
  const requireSameFiles = createFilesCheck(files)
  const statements = {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
  }

  function toFailure(error: unknown): unknown {
    const storeError = toStoreError(error, false)
    if (storeError instanceof OutcomeUnknownError) onFault(storeError)
    return storeError
  }

  /** Tries again while another process holds the file, without blocking the event loop. */
  async function run<Result>(action: () => Result): Promise<Result> {
    const deadline = performance.now() + BUSY_LIMIT_MS
    for (;;) {
      try {
        return action()
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw toFailure(error)
        await sleep(BUSY_PAUSE_MS)
      }
    }
  }

  return {
    write: (work) =>
      run(() => {
        const result = runTransaction(database, statements, work, onCommit)
        // After the commit, because a file may be deleted until then.
        requireSameFiles()
        return result
      }),
    async read(query) {
      try {
        return await run(query)
      } catch (error) {
        if (!(error instanceof OutcomeUnknownError)) throw error
        throw new StoreUnavailableError('the store has failed', { cause: error })
      }
    },
  }
}

function runTransaction<Result>(
  database: DatabaseSync,
  { begin, commit }: Readonly<Record<'begin' | 'commit', StatementSync>>,
  work: () => Result,
  onCommit: ((durationMs: number) => void) | undefined,
): Result {
  begin.run()
  let commitBeganAt: number | undefined
  let result: Result
  try {
    result = work()
    commitBeganAt = performance.now()
    commit.run()
  } catch (error) {
    // SQLite has rolled back by itself after some errors (https://sqlite.org/lang_transaction.html).
    if (database.isTransaction) database.exec('ROLLBACK')
    throw isBusy(error) ? error : toStoreError(error, commitBeganAt !== undefined)
  }
  // Not within the try: what an observer does must never pass for a failed commit.
  onCommit?.(performance.now() - commitBeganAt)
  return result
}
