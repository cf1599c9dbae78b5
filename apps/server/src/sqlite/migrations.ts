import type { DatabaseSync } from 'node:sqlite'
import { StoreRefusedError } from '../store/store.ts'

interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

/** Every schema change, oldest first. Landed ones never change; a new one goes to the end. */
const migrations: readonly Migration[] = [
  {
    version: 1,
    name: 'plants',
    sql: 'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT',
  },
  {
    version: 2,
    name: 'tokens',
    sql: `CREATE TABLE tokens (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      secret_sha256 BLOB NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER,
      revoked_at INTEGER,
      last_used_at INTEGER
    ) STRICT`,
  },
]

/** The schema version that this program writes and understands. */
export const NEWEST_VERSION = migrations.length

export function hasTable(database: DatabaseSync, name: string): boolean {
  const select = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
  return select.get(name) !== undefined
}

/** The schema version of a database; 0 before the first migration. */
export function schemaVersionOf(database: DatabaseSync): number {
  if (!hasTable(database, 'migrations')) return 0
  const row = database.prepare('SELECT max(version) AS version FROM migrations').get()
  return Number(row?.version ?? 0)
}

/** @throws StoreRefusedError for a version that this program does not know. */
export function refuseNewerSchema(database: DatabaseSync, path: string): void {
  const version = schemaVersionOf(database)
  if (version <= NEWEST_VERSION) return
  throw new StoreRefusedError(
    `${path} has schema version ${version}, newer than the ${NEWEST_VERSION} that this program knows`,
    { code: 'newer', fix: 'start the newer program that wrote it' },
  )
}

/**
 * Applies what is missing up to the version `newest`, each migration in a transaction of its own with its record.
 * Another process may do the same at the same time: each looks again once it may write.
 */
export function migrate(database: DatabaseSync, path: string, newest = NEWEST_VERSION): void {
  for (const { version, name, sql } of migrations) {
    if (version > newest || schemaVersionOf(database) >= version) continue
    database.exec('BEGIN IMMEDIATE')
    try {
      refuseNewerSchema(database, path)
      if (schemaVersionOf(database) < version) {
        if (version === 1) createMigrationsTable(database)
        database.exec(sql)
        database
          .prepare('INSERT INTO migrations (version, name, applied_at) VALUES (?, ?, ?)')
          .run(version, name, Date.now())
      }
      database.exec('COMMIT')
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }
}

function createMigrationsTable(database: DatabaseSync): void {
  database.exec(
    'CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  )
}
