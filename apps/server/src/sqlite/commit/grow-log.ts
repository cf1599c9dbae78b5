import type { DatabaseSync } from 'node:sqlite'
import { readValue } from '../database/connect.ts'

/**
 * As large as the log grows before SQLite checkpoints it: 1000 pages of 4096 bytes
 * (https://sqlite.org/pragma.html#pragma_wal_autocheckpoint).
 */
const LOG_BYTES = 1_000 * 4_096

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
