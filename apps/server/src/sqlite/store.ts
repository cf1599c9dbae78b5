import type { DatabaseSync } from 'node:sqlite'
import type { NewPlant } from '@plant-store/contract'
import { GroupCommit } from '../store/group-commit.ts'
import type { StoreMeasures, StoreObserver } from '../store/observer.ts'
import {
  type CreateOutcome,
  createOutcomes,
  OutcomeUnknownError,
  type PlantStore,
  type Store,
  StoreUnavailableError,
  type TokenStore,
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
import { createTransactions, type Transactions } from './transactions.ts'

/** Whether a database file can be relied on, as its commits have shown. */
class Integrity {
  /** Resolves once it cannot be relied on any more. */
  readonly failure: Promise<OutcomeUnknownError>
  /** `doubtful` after a commit that stored nothing. */
  state: 'ready' | 'doubtful' | 'failed' = 'ready'
  readonly #fail: (fault: OutcomeUnknownError) => void

  constructor(onFailure: (fault: OutcomeUnknownError) => void) {
    const { promise, resolve } = Promise.withResolvers<OutcomeUnknownError>()
    this.failure = promise
    this.#fail = (fault) => {
      resolve(fault)
      onFailure(fault)
    }
  }

  readonly fail = (fault: OutcomeUnknownError): void => {
    this.state = 'failed'
    this.#fail(fault)
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
}

export interface SqliteStoreOptions {
  /** The database file; it and its folder are made if they are missing and need not exist. */
  readonly path: string
  readonly mustExist?: boolean | undefined
  readonly observer?: StoreObserver | undefined
}

const CREATED_AT = 'SELECT applied_at FROM migrations WHERE version = 1'

/** Kept from the garbage collector, which would close them. */
const abandoned: DatabaseSync[] = []

/** Its methods need no `this`. */
class SqliteStore implements Store {
  readonly plants: PlantStore
  readonly tokens: TokenStore
  readonly description: string
  readonly failure: Promise<OutcomeUnknownError>
  readonly #path: string
  readonly #createdAt: number
  readonly #database: DatabaseSync
  readonly #files: readonly KnownFile[]
  readonly #integrity: Integrity
  readonly #transactions: Transactions
  readonly #commits: GroupCommit<NewPlant, CreateOutcome>
  /** Not before the first plant: the command line opens stores as well. */
  #thread: CommitThread | undefined

  constructor(path: string, database: DatabaseSync, observer: StoreObserver | undefined) {
    const files = knowFiles(path)
    const integrity = new Integrity((fault) => commits.fail(fault))
    const onCommit = observer?.commitStatementEnded
    const transactions = createTransactions(database, integrity.fail, onCommit, files)
    const insertPlants = preparePlantInsert(database)
    const commitHere = (plants: readonly NewPlant[]) =>
      transactions.write(() => insertPlants(plants))
    const threadOptions = { path, files, observer, commitHere, onDeath: integrity.fail }
    const commits = new GroupCommit<NewPlant, CreateOutcome>({
      observer,
      outcomes: createOutcomes,
      commit: (plants) => {
        this.#thread ??= new CommitThread(threadOptions)
        const thread = this.#thread
        return integrity.watch(() => thread.commit(plants))
      },
      poll: () => this.#thread?.poll(),
    })
    this.#path = path
    this.#createdAt = Number(readValue(database, CREATED_AT))
    this.#database = database
    this.#files = files
    this.#integrity = integrity
    this.#transactions = transactions
    this.#commits = commits
    this.plants = { create: commits.add.bind(commits) }
    this.tokens = createSqliteTokenStore(database, transactions)
    this.description = `SQLite ${sqliteVersionOf(database)} in ${path}, write-ahead log, synchronous=FULL`
    this.failure = integrity.failure
  }

  readonly countPlants = async (most: number): Promise<number> => {
    const text = 'SELECT count(*) AS plants FROM (SELECT 1 FROM plants LIMIT ?)'
    const select = this.#database.prepare(text)
    return Number((await this.#transactions.read(() => select.get(most)))?.plants)
  }

  readonly isReady = async (): Promise<boolean> => {
    const integrity = this.#integrity
    if (!this.#hasItsFiles()) return false
    if (integrity.state !== 'doubtful') return integrity.state === 'ready'
    try {
      await integrity.watch(() => this.#transactions.write(() => touch(this.#database)))
      return true
    } catch (cause) {
      const { message: reason, cause: first } = cause as Error
      const fix = describeFullDisk(first, this.#path)?.fix
      throw new StoreUnavailableError(`the store is not ready: ${reason}`, { cause, fix })
    }
  }

  readonly measure = async (): Promise<StoreMeasures> => ({
    waitingPlants: this.#commits.waiting,
    createdAt: this.#createdAt,
    sqlite: await measureFiles(this.#path),
  })

  readonly close = async (): Promise<void> => {
    await this.#commits.close()
    if (!this.#hasItsFiles()) {
      // Closing would delete the log, which may hold plants or be of another database by now.
      abandoned.push(this.#database)
      setLogAside(this.#files)
      return
    }
    await this.#thread?.close()
    this.#database.close()
  }

  #hasItsFiles(): boolean {
    try {
      requireSameFiles(this.#files)
      return true
    } catch (error) {
      this.#integrity.fail(error as OutcomeUnknownError)
      return false
    }
  }
}

/**
 * A store in one SQLite file.
 * @throws StoreRefusedError when the file must not be used; it is then left as it was.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const path = realPathOf(options.path)
  return new SqliteStore(path, await openDatabase(path, options.mustExist), options.observer)
}
