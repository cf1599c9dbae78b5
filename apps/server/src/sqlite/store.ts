import type { DatabaseSync } from 'node:sqlite'
import type { NewPlant } from '@plant-store/contract'
import { GroupCommit } from '../store/group-commit.ts'
import type { StoreObserver } from '../store/observer.ts'
import {
  type CreateOutcome,
  createOutcomes,
  OutcomeUnknownError,
  type Store,
  StoreUnavailableError,
} from '../store/store.ts'
import { CommitThread } from './commit-thread.ts'
import { readValue, sqliteVersionOf } from './connect.ts'
import { realPathOf } from './files.ts'
import { type KnownFile, knowFiles, requireSameFiles, setLogAside } from './known-files.ts'
import { measureFiles } from './measure.ts'
import { openDatabase, touch } from './open.ts'
import { describeFullDisk } from './open-failure.ts'
import { preparePlantInsert } from './plants.ts'
import { createSqliteTokenStore } from './tokens.ts'
import { createTransactions } from './transactions.ts'

/** Whether a database file can be relied on, as its commits have shown. */
class Integrity {
  /** Resolves once it cannot be relied on any more. */
  readonly failure: Promise<OutcomeUnknownError>
  /** `doubtful` after a commit that stored nothing. */
  state: 'ready' | 'doubtful' | 'failed' = 'ready'
  readonly fail: (fault: OutcomeUnknownError) => void
  readonly #files: readonly KnownFile[]

  constructor(files: readonly KnownFile[], onFailure: (fault: OutcomeUnknownError) => void) {
    const { promise, resolve } = Promise.withResolvers<OutcomeUnknownError>()
    this.#files = files
    this.failure = promise
    this.fail = (fault) => {
      this.state = 'failed'
      resolve(fault)
      onFailure(fault)
    }
  }

  /** Runs a commit and learns from how it ends; refuses when the file has failed. */
  async watch<Result>(commit: () => Promise<Result>): Promise<Result> {
    if (this.state === 'failed') throw new StoreUnavailableError('the store has failed')
    try {
      const result = await commit()
      if (this.state === 'doubtful') this.state = 'ready'
      return result
    } catch (error) {
      if (error instanceof OutcomeUnknownError) this.fail(error)
      else if (this.state === 'ready') this.state = 'doubtful'
      throw error
    }
  }

  /** Whether its files are still in their place; it has failed where they are not. */
  hasFiles(): boolean {
    try {
      requireSameFiles(this.#files)
      return true
    } catch (error) {
      this.fail(error as OutcomeUnknownError)
      return false
    }
  }

  /** In doubt tries a commit. @throws StoreUnavailableError with why that failed */
  async isReady(path: string, tryCommit: () => Promise<void>): Promise<boolean> {
    if (!this.hasFiles()) return false
    if (this.state !== 'doubtful') return this.state === 'ready'
    try {
      await this.watch(tryCommit)
      return true
    } catch (cause) {
      const { message: reason, cause: first } = cause as Error
      const fix = describeFullDisk(first, path)?.fix
      throw new StoreUnavailableError(`the store is not ready: ${reason}`, { cause, fix })
    }
  }
}

export interface SqliteStoreOptions {
  /** The database file; it and its folder are made if they are missing and need not exist. */
  readonly path: string
  readonly mustExist?: boolean | undefined
  readonly observer?: StoreObserver | undefined
}

const CREATED_AT = 'SELECT applied_at FROM migrations WHERE version = 1'

const COUNT = 'SELECT count(*) AS plants FROM (SELECT 1 FROM plants LIMIT ?)'

/** Kept from the garbage collector, which would close them. */
const abandoned: DatabaseSync[] = []

/** The store in a database that was opened; its methods need no `this`. */
function storeIn(path: string, database: DatabaseSync, observer?: StoreObserver): Store {
  const files = knowFiles(path)
  const integrity = new Integrity(files, (fault) => commits.fail(fault))
  const { fail: onDeath, failure } = integrity
  const transactions = createTransactions(database, onDeath, observer?.commitStatementEnded, files)
  const insertPlants = preparePlantInsert(database)
  const commitHere = (plants: readonly NewPlant[]) => transactions.write(() => insertPlants(plants))
  const threadOptions = { path, files, observer, commitHere, onDeath }
  let thread: CommitThread | undefined
  // Not when it is opened: the command line opens stores as well.
  const startThread = () => (thread ??= new CommitThread(threadOptions))
  const commits = new GroupCommit<NewPlant, CreateOutcome>({
    observer,
    outcomes: createOutcomes,
    commit: (plants) => integrity.watch(() => startThread().commit(plants)),
    poll: () => thread?.poll(),
  })
  const createdAt = Number(readValue(database, CREATED_AT))
  const count = database.prepare(COUNT)
  return {
    plants: { create: commits.add.bind(commits) },
    tokens: createSqliteTokenStore(database, transactions),
    description: `SQLite ${sqliteVersionOf(database)} in ${path}, write-ahead log, synchronous=FULL`,
    failure,
    countPlants: async (most) => Number((await transactions.read(() => count.get(most)))?.plants),
    isReady: async () => {
      // Or else the first plants would hold up the event loop while it starts.
      startThread()
      return integrity.isReady(path, () => transactions.write(() => touch(database)))
    },
    measure: async () => {
      const sqlite = await measureFiles(path)
      return { waitingPlants: commits.waiting, createdAt, sqlite }
    },
    async close() {
      await commits.close()
      if (integrity.hasFiles()) {
        await thread?.close()
        database.close()
        return
      }
      // Closing would delete the log, which may hold plants or be of another database by now.
      abandoned.push(database)
      setLogAside(files)
    },
  }
}

/**
 * A store in one SQLite file.
 * @throws StoreRefusedError when the file must not be used; it is then left as it was.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const path = realPathOf(options.path)
  return storeIn(path, await openDatabase(path, options.mustExist), options.observer)
}
