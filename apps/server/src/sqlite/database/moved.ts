import type { DatabaseSync } from 'node:sqlite'
import { StoreRefusedError } from '../../store/store.ts'

const has = (database: DatabaseSync, name: string) =>
  database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined

/**
 * What earlier versions added to a store whose plants they moved to another database: while they did,
 * a trigger that noted what arrived; and one that refuses plants, once all of them had moved.
 */
export const MOVE_SCHEMA = [
  'CREATE TABLE move (id TEXT NOT NULL, last_id INTEGER, moved_to TEXT) STRICT',
  'CREATE TABLE arrivals (position INTEGER PRIMARY KEY, plant INTEGER NOT NULL) STRICT',
  'CREATE TRIGGER record_arrival AFTER INSERT ON plants BEGIN INSERT INTO arrivals (plant) VALUES (new.id); END',
  "CREATE TRIGGER refuse_arrival AFTER INSERT ON plants BEGIN SELECT RAISE(ABORT, 'the plants have moved'); END",
] as const

/** Forgets a move that was not finished. */
export function removeUnfinishedMove(database: DatabaseSync): void {
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
