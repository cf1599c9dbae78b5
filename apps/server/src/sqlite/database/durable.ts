import type { DatabaseSync } from 'node:sqlite'
import { StoreRefusedError } from '../../store/store.ts'
import { connect, readValue } from './connect.ts'
import { BUSY_LIMIT_MS } from './transactions.ts'

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

/** @throws StoreRefusedError where SQLite keeps other settings, with which a commit could be lost. */
export function makeDurable(database: DatabaseSync): void {
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
