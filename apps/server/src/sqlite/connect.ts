import { DatabaseSync } from 'node:sqlite'
import { StoreRefusedError } from '../store/store.ts'
import { BUSY_LIMIT_MS } from './transactions.ts'

export interface ConnectOptions {
  readonly readOnly?: boolean
  /** How long SQLite itself waits for other processes that hold the file, in ms. */
  readonly timeout?: number
  /** No: for reading alone, also of a file that lacks pages at its end. */
  readonly defensive?: boolean
}

/**
 * A connection to a SQLite file, or to `:memory:`, that trusts nothing in it: what its schema calls
 * can do nothing but compute, no SQL reaches into the file past SQLite's own checks, and no
 * extension is loaded (https://sqlite.org/security.html).
 */
export function connect(path: string, options: ConnectOptions = {}): DatabaseSync {
  const database = new DatabaseSync(path, { defensive: true, ...options, allowExtension: false })
  database.exec('PRAGMA trusted_schema = OFF')
  return database
}

/** The value of a pragma, or of the only column of a query. */
export function readValue(database: DatabaseSync, sql: string): unknown {
  return Object.values(database.prepare(sql).get() ?? {})[0]
}

export function sqliteVersionOf(database: DatabaseSync): string {
  return String(readValue(database, 'SELECT sqlite_version()'))
}

/** The first SQLite without the WAL-reset corruption (https://sqlite.org/wal.html#walresetbug). */
const OLDEST_SQLITE = [3, 51, 3] as const

function refuseOldSqlite(database: DatabaseSync): void {
  const version = sqliteVersionOf(database)
  const parts = version.split('.').map(Number)
  const difference = OLDEST_SQLITE.map((least, index) => (parts[index] ?? 0) - least).find(Boolean)
  if ((difference ?? 0) >= 0) return
  throw new StoreRefusedError(`SQLite ${version} can corrupt a write-ahead log`, {
    fix: `a Node.js with SQLite ${OLDEST_SQLITE.join('.')} or later`,
  })
}

function setAndReadBack(database: DatabaseSync, pragma: string, value: string | number): void {
  database.exec(`PRAGMA ${pragma} = ${value}`)
  const actual = readValue(database, `PRAGMA ${pragma}`)
  if (actual === value) return
  throw new StoreRefusedError(
    `SQLite kept ${pragma} at ${actual} instead of ${value}, so 200 would not mean durable`,
  )
}

const SYNCHRONOUS_FULL = 2

/**
 * A log that grew beyond this, because a long reader kept it from being used again, is cut back when
 * it is used again. Larger than it usually is, so that no usual commit has to extend it again.
 */
export const LOG_LIMIT_BYTES = 33_554_432

/** @throws StoreRefusedError where SQLite is too old or keeps other settings, so that a commit could be lost. */
export function makeDurable(database: DatabaseSync): void {
  refuseOldSqlite(database)
  setAndReadBack(database, 'journal_mode', 'wal')
  setAndReadBack(database, 'synchronous', SYNCHRONOUS_FULL)
  setAndReadBack(database, 'journal_size_limit', LOG_LIMIT_BYTES)
  // macOS needs F_FULLFSYNC to reach the platter; elsewhere these two change nothing.
  setAndReadBack(database, 'fullfsync', 1)
  setAndReadBack(database, 'checkpoint_fullfsync', 1)
}

/** One more connection to a file that openDatabase has opened; it waits itself while others write. */
export function openConnection(path: string): DatabaseSync {
  const database = connect(path, { timeout: BUSY_LIMIT_MS })
  makeDurable(database)
  return database
}

/** As large as the log grows before SQLite checkpoints it: 1000 pages of 4096 bytes, by its default. */
export const LOG_BYTES = 1_000 * 4_096

/**
 * Lets the log grow to its usual size at once, by a transaction that is rolled back. A commit
 * that extends a file costs about two syncs, because the file's new size must reach the disk too.
 * Failing is no harm: the log then grows commit by commit.
 */
export function growLog(database: DatabaseSync): void {
  const cacheSize = readValue(database, 'PRAGMA cache_size')
  try {
    // What does not fit into the cache is written to the log before the commit.
    database.exec(`PRAGMA cache_size = 10; BEGIN IMMEDIATE; CREATE TABLE growth (bytes);
      INSERT INTO growth VALUES (zeroblob(${LOG_BYTES}))`)
  } catch {
    // A full disk, or another process that holds the file.
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK')
    database.exec(`PRAGMA cache_size = ${cacheSize}`)
  }
}
