import type { DatabaseSync } from 'node:sqlite'
import type { NewPlant } from '@plant-store/contract'
import { GroupCommit } from '../group-commit.ts'
import type { StoreObserver } from '../observer.ts'
import type { CreateOutcome, OutcomeUnknownError, Store } from '../store.ts'
import { createCommitter } from './committer.ts'
import { openDatabase, touch } from './database.ts'
import { sqliteVersionOf } from './inspect.ts'
import { knowFiles, requireSameFiles, setLogAside } from './known-files.ts'
import { measureFiles } from './measure-files.ts'
import { preparePlantInsert } from './plants.ts'
import { realPathOf } from './real-path.ts'
import { createSqliteTokenStore } from './tokens.ts'
import { createTransactions } from './transactions.ts'
import { createTrust } from './trust.ts'

export interface SqliteStoreOptions {
  /** The database file; it and its folder are made if they are missing. */
  readonly path: string
  /** Plants that may wait for a commit; one more is refused at once. */
  readonly queueLimit: number
  readonly observer?: StoreObserver | undefined
}

function hasNoPlants(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM plants LIMIT 1').get() === undefined
}

/** Kept from the garbage collector, which would close them. */
const abandoned: DatabaseSync[] = []

/**
 * A store in one SQLite file.
 * @throws StoreRefusedError when the file must not be used; it is then left as it was.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const path = realPathOf(options.path)
  const { queueLimit, observer } = options
  const database = await openDatabase(path)
  const trust = createTrust((fault) => commits.fail(fault))
  const files = knowFiles(path)
  const onCommit = observer?.commitStatementEnded
  const transactions = createTransactions(database, trust.fail, onCommit, files)
  const insertPlants = preparePlantInsert(database)
  const committer = createCommitter(path, files, insertPlants, transactions, observer)
  const commits = new GroupCommit<NewPlant, CreateOutcome>({
    queueLimit,
    observer,
    commit: (plants) => trust.watch(() => committer.commit(plants)),
    poll: committer.poll,
  })

  function hasItsFiles(): boolean {
    try {
      requireSameFiles(files)
      return true
    } catch (error) {
      trust.fail(error as OutcomeUnknownError)
      return false
    }
  }

  return {
    plants: { create: (plant, timing) => commits.add(plant, timing) },
    tokens: createSqliteTokenStore(database, transactions),
    description: `SQLite ${sqliteVersionOf(database)} in ${path}, write-ahead log, synchronous=FULL`,
    failure: trust.failure,
    isEmpty: () => transactions.read(() => hasNoPlants(database)),
    async isReady() {
      if (!hasItsFiles()) return false
      if (trust.state !== 'doubtful') return trust.state === 'ready'
      const probe = trust.watch(() => transactions.write(() => touch(database)))
      return probe.then(
        () => true,
        () => false,
      )
    },
    measure: async () => ({
      waitingPlants: commits.waiting,
      queueLimit,
      sqlite: await measureFiles(path),
    }),
    async close() {
      await commits.close()
      if (!hasItsFiles()) {
        // Closing would delete the log, which may hold plants or be of another database by now.
        abandoned.push(database)
        setLogAside(files)
        return
      }
      await committer.close()
      database.close()
    },
  }
}
