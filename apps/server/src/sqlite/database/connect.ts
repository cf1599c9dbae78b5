import { DatabaseSync } from 'node:sqlite'

export interface ConnectOptions {
  readonly readOnly?: boolean
  /** How long SQLite itself waits for other processes that hold the file, in ms. */
  readonly timeout?: number
}

/**
 * A connection to a SQLite file, or to `:memory:`, that trusts nothing in it: what its schema calls
 * can do nothing but compute, no SQL reaches into the file past SQLite's own checks, and no
 * extension is loaded (https://sqlite.org/security.html).
 */
export function connect(path: string, options: ConnectOptions = {}): DatabaseSync {
  const database = new DatabaseSync(path, { ...options, allowExtension: false, defensive: true })
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
