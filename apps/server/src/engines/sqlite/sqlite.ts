import type { DatabaseSync } from 'node:sqlite'
import type { NewPlant } from '@plant-store/contract'
import { GroupCommit } from '../../store/group-commit.ts'
import type { StoreObserver } from '../../store/observer.ts'
import {
  type CreateOutcome,
  isCreateOutcome,
  type OutcomeUnknownError,
  type Store,
} from '../../store/store.ts'
import { createCommitter } from './commit/committer.ts'
import { createIntegrity } from './commit/integrity.ts'
import { openDatabase, touch } from './database/database.ts'
import { sqliteVersionOf } from './database/inspect.ts'
import { preparePlantInsert } from './database/plants.ts'
import { createSqliteTokenStore } from './database/tokens.ts'
import { createTransactions } from './database/transactions.ts'
import { knowFiles, requireSameFiles, setLogAside } from './files/known-files.ts'
import { measureFiles } from './files/measure-files.ts'
import { realPathOf } from './files/real-path.ts'

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
  const integrity = createIntegrity((fault) => commits.fail(fault))
  const files = knowFiles(path)
  const onCommit = observer?.commitStatementEnded
  const transactions = createTransactions(database, integrity.fail, onCommit, files)
  const insertPlants = preparePlantInsert(database)
  const committer = createCommitter(path, files, insertPlants, transactions, observer)
  const commits = new GroupCommit<NewPlant, CreateOutcome>({
    itemNoun: 'plants',
    isOutcome: isCreateOutcome,
    queueLimit,
    observer,
    commit: (plants) => integrity.watch(() => committer.commit(plants)),
    poll: committer.poll,
  })

  function hasItsFiles(): boolean {
    try {
      requireSameFiles(files)
      return true
    } catch (error) {
      integrity.fail(error as OutcomeUnknownError)
      return false
    }
  }

  return {
    plants: { create: (plant, timing) => commits.add(plant, timing) },
    tokens: createSqliteTokenStore(database, transactions),
    description: `SQLite ${sqliteVersionOf(database)} in ${path}, write-ahead log, synchronous=FULL`,
    failure: integrity.failure,
    isEmpty: () => transactions.read(() => hasNoPlants(database)),
    async isReady() {
      if (!hasItsFiles()) return false
      if (integrity.state !== 'doubtful') return integrity.state === 'ready'
      const probe = integrity.watch(() => transactions.write(() => touch(database)))
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
