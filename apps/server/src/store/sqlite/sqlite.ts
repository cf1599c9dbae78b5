import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { NewPlant } from '@plant-store/contract'
import { createGroupCommit } from '../group-commit.ts'
import {
  type CreateOutcome,
  type OutcomeUnknownError,
  type Store,
  StoreUnavailableError,
} from '../store.ts'
import { openDatabase, sqliteVersionOf, touch } from './database.ts'
import { preparePlantInsert } from './plants.ts'
import { createSqliteTokenStore } from './tokens.ts'
import { createTransactions } from './transactions.ts'

export interface SqliteStoreOptions {
  /** The database file; it and its folder are made if they are missing. */
  readonly path: string
  /** Plants that may wait for a commit; one more is refused at once. */
  readonly queueLimit: number
}

/**
 * A store in one SQLite file. Commits run on the calling thread (ARCHITECTURE.md says why).
 * @throws StoreRefusedError when the file must not be used; it is then left as it was.
 */
export function openSqliteStore({ path, queueLimit }: SqliteStoreOptions): Store {
  const database = openDatabase(path)
  const { promise: failure, resolve: tellFailure } = Promise.withResolvers<OutcomeUnknownError>()
  let state: 'ready' | 'doubtful' | 'failed' = 'ready'
  const transactions = createTransactions(database, (fault) => {
    state = 'failed'
    tellFailure(fault)
  })
  const insertPlants = preparePlantInsert(database)

  async function commit<Result>(work: () => Result): Promise<Result> {
    if (state === 'failed') throw new StoreUnavailableError('the store has failed')
    try {
      const result = await transactions.write(work)
      state = 'ready'
      return result
    } catch (error) {
      if (state === 'ready') state = 'doubtful'
      throw error
    }
  }

  const commits = createGroupCommit<NewPlant, CreateOutcome>({
    queueLimit,
    commit: (plants) => commit(() => insertPlants(plants)),
  })

  return {
    plants: { create: (plant) => commits.add(plant) },
    tokens: createSqliteTokenStore(database, transactions),
    description: `SQLite ${sqliteVersionOf(database)} in ${resolve(path)}, write-ahead log, synchronous=FULL`,
    failure,
    isEmpty: () => transactions.read(() => hasNoPlants(database)),
    async isReady() {
      if (state !== 'doubtful') return state === 'ready'
      return commit(() => touch(database)).then(
        () => true,
        () => false,
      )
    },
    async close() {
      await commits.close()
      database.close()
    },
  }
}

function hasNoPlants(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM plants LIMIT 1').get() === undefined
}
