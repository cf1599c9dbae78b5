import type { DatabaseSync } from 'node:sqlite'
import { StoreRefusedError } from '../store/store.ts'

const has = (database: DatabaseSync, name: string) =>
  database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined

/**
 * What earlier versions added to a store: the digest that its backup carried; and where its plants
 * were moved to another database, a trigger that noted what arrived meanwhile, and one that refuses
 * plants once all of them had moved.
 */
export const LEFTOVERS = [
  'CREATE TABLE backup_digest (sha256 BLOB NOT NULL) STRICT',
  'CREATE TABLE move (id TEXT NOT NULL, last_id INTEGER, moved_to TEXT) STRICT',
  'CREATE TABLE arrivals (position INTEGER PRIMARY KEY, plant INTEGER NOT NULL) STRICT',
  'CREATE TRIGGER record_arrival AFTER INSERT ON plants BEGIN INSERT INTO arrivals (plant) VALUES (new.id); END',
  "CREATE TRIGGER refuse_arrival AFTER INSERT ON plants BEGIN SELECT RAISE(ABORT, 'the plants have moved'); END",
] as const

/** Takes away what earlier versions added, but for the refusal of plants that have moved. */
export function removeLeftovers(database: DatabaseSync): void {
  database.exec('DROP TABLE IF EXISTS backup_digest')
  if (has(database, 'refuse_arrival')) return
  database.exec(
    'BEGIN; DROP TRIGGER IF EXISTS record_arrival; DROP TABLE IF EXISTS arrivals; DROP TABLE IF EXISTS move; COMMIT',
  )
}

/** @throws StoreRefusedError for a store whose plants have moved: what it would store is nowhere else. */
export function refuseMoved(database: DatabaseSync, path: string): void {
  if (!has(database, 'refuse_arrival')) return
  const place = database.prepare('SELECT moved_to FROM move').get()?.moved_to
  throw new StoreRefusedError(`the plants of ${path} have moved: all of them are in ${place}`, {
    code: 'moved',
    fix:
      'name that database in PLANT_STORE_DATABASE_URL. To use this one again, without what the ' +
      `other one has stored since: sqlite3 ${path} 'DROP TRIGGER refuse_arrival'`,
  })
}
