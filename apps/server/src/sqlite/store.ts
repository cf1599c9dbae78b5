import type { DatabaseSync } from 'node:sqlite'
import type { NewPlant } from '@plant-store/contract'
import { GroupCommit } from '../store/group-commit.ts'
import type { StoreObserver } from '../store/observer.ts'
import {
  type CreateOutcome,
  isCreateOutcome,
  type OutcomeUnknownError,
  type Store,
  StoreUnavailableError,
} from '../store/store.ts'
import { CommitThread } from './commit-thread.ts'
import { sqliteVersionOf } from './connect.ts'
import { realPathOf } from './files.ts'
import { Integrity } from './integrity.ts'
import { type KnownFile, knowFiles, requireSameFiles, setLogAside } from './known-files.ts'
import { measureFiles } from './measure.ts'
import { openDatabase, touch } from './open.ts'
import { preparePlantInsert } from './plants.ts'
import { createSqliteTokenStore } from './tokens.ts'
import { createTransactions, type Transactions } from './transactions.ts'

export interface SqliteStoreOptions {
  /** The database file; it and its folder are made if they are missing. */
  readonly path: string
  readonly observer?: StoreObserver | undefined
}

/** An open file, and what works on it. */
interface OpenFile {
  readonly path: string
  readonly files: readonly KnownFile[]
  readonly database: DatabaseSync
  readonly integrity: Integrity
  readonly transactions: Transactions
  readonly commits: GroupCommit<NewPlant, CreateOutcome>
  /** undefined before the first plant: the command line opens stores as well. */
  thread: CommitThread | undefined
}

async function openFile(options: SqliteStoreOptions): Promise<OpenFile> {
  const path = realPathOf(options.path)
  const { observer } = options
  const database = await openDatabase(path)
  const integrity = new Integrity((fault) => commits.fail(fault))
  const files = knowFiles(path)
  const onCommit = observer?.commitStatementEnded
  const transactions = createTransactions(database, integrity.fail, onCommit, files)
  const insertPlants = preparePlantInsert(database)
  const threadOptions = {
    path,
    files,
    observer,
    commitHere: (plants: readonly NewPlant[]) => transactions.write(() => insertPlants(plants)),
    onDeath: integrity.fail,
  }
  const commits = new GroupCommit<NewPlant, CreateOutcome>({
    observer,
    isOutcome: isCreateOutcome,
    commit(plants) {
      file.thread ??= new CommitThread(threadOptions)
      const { thread } = file
      return integrity.watch(() => thread.commit(plants))
    },
    poll: () => file.thread?.poll(),
  })
  const file: OpenFile = {
    path,
    files,
    database,
    integrity,
    transactions,
    commits,
    thread: undefined,
  }
  return file
}

function hasNoPlants(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM plants LIMIT 1').get() === undefined
}

function hasItsFiles({ files, integrity }: OpenFile): boolean {
  try {
    requireSameFiles(files)
    return true
  } catch (error) {
    integrity.fail(error as OutcomeUnknownError)
    return false
  }
}

async function isReady(file: OpenFile): Promise<boolean> {
  const { database, integrity, transactions } = file
  if (!hasItsFiles(file)) return false
  if (integrity.state !== 'doubtful') return integrity.state === 'ready'
  const probe = integrity.watch(() => transactions.write(() => touch(database)))
  return probe.then(
    () => true,
    (cause) => {
      throw new StoreUnavailableError(`the store is not ready: ${cause.message}`, { cause })
    },
  )
}

/** Kept from the garbage collector, which would close them. */
const abandoned: DatabaseSync[] = []

async function close(file: OpenFile): Promise<void> {
  const { commits, database, files } = file
  await commits.close()
  if (!hasItsFiles(file)) {
    // Closing would delete the log, which may hold plants or be of another database by now.
    abandoned.push(database)
    setLogAside(files)
    return
  }
  await file.thread?.close()
  database.close()
}

/**
 * A store in one SQLite file.
 * @throws StoreRefusedError when the file must not be used; it is then left as it was.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const file = await openFile(options)
  const { path, database, transactions, commits, integrity } = file
  const description = `SQLite ${sqliteVersionOf(database)} in ${path}, write-ahead log, synchronous=FULL`
  return {
    plants: { create: (plant, timing) => commits.add(plant, timing) },
    tokens: createSqliteTokenStore(database, transactions),
    description,
    failure: integrity.failure,
    isEmpty: () => transactions.read(() => hasNoPlants(database)),
    isReady: () => isReady(file),
    measure: async () => ({
      waitingPlants: commits.waiting,
      sqlite: await measureFiles(path),
    }),
    close: () => close(file),
  }
}
