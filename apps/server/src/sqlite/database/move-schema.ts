import type { DatabaseSync } from 'node:sqlite'
import { operatorNames } from '../../store/operator-names.ts'
import { StoreRefusedError } from '../../store/store.ts'

/** One row: what is moved, the last plant that was there when the move began, and where all are in the end. */
const MOVE_TABLE = 'CREATE TABLE move (id TEXT NOT NULL, last_id INTEGER, moved_to TEXT) STRICT'

/** The plants that were stored since, in the order of their commits. Nothing is ever deleted from it. */
const ARRIVALS_TABLE =
  'CREATE TABLE arrivals (position INTEGER PRIMARY KEY, plant INTEGER NOT NULL) STRICT'

/** Runs in the transaction of every process that stores a plant, whether it knows of the move or not. */
const RECORD_TRIGGER =
  'CREATE TRIGGER record_arrival AFTER INSERT ON plants BEGIN INSERT INTO arrivals (plant) VALUES (new.id); END'

const REFUSE_TRIGGER =
  "CREATE TRIGGER refuse_arrival AFTER INSERT ON plants BEGIN SELECT RAISE(ABORT, 'the plants have moved'); END"

/** What a move adds to the schema of a store. */
export const MOVE_SCHEMA = [MOVE_TABLE, ARRIVALS_TABLE, RECORD_TRIGGER, REFUSE_TRIGGER] as const

function has(database: DatabaseSync, name: string): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined
}

/** `open` while the store records what arrives. */
export type MoveState = 'none' | 'open' | 'moved'

export function moveStateOf(database: DatabaseSync): MoveState {
  if (has(database, 'refuse_arrival')) return 'moved'
  return has(database, 'record_arrival') ? 'open' : 'none'
}

/** Call these in a transaction. */
export function beginMove(database: DatabaseSync, id: string): void {
  database.exec(`${MOVE_TABLE}; ${ARRIVALS_TABLE}; ${RECORD_TRIGGER}`)
  const insert = 'INSERT INTO move SELECT ?, max(id), NULL FROM plants'
  database.prepare(insert).run(id)
}

export function finishMove(database: DatabaseSync, to: string): void {
  database.exec(`DROP TRIGGER record_arrival; DROP TABLE arrivals; ${REFUSE_TRIGGER}`)
  database.prepare('UPDATE move SET moved_to = ?').run(to)
}

export function undoMove(database: DatabaseSync): void {
  database.exec(
    `DROP TRIGGER IF EXISTS record_arrival; DROP TRIGGER IF EXISTS refuse_arrival;
      DROP TABLE IF EXISTS arrivals; DROP TABLE IF EXISTS move`,
  )
}

/** Where the plants have moved, for people; undefined until then. */
export function placeAfterMove(database: DatabaseSync): string | undefined {
  if (moveStateOf(database) !== 'moved') return undefined
  return String(database.prepare('SELECT moved_to FROM move').get()?.moved_to)
}

/** @throws StoreRefusedError for a store whose plants have moved: what it would store is nowhere else. */
export function refuseMoved(database: DatabaseSync, path: string): void {
  const place = placeAfterMove(database)
  if (place === undefined) return
  throw new StoreRefusedError(
    `the plants of ${path} have moved: all of them are in ${place}. Name that one in ` +
      `${operatorNames.databaseUrl}. To use this one again, without what the other one has stored ` +
      `since: ${operatorNames.move} --from sqlite:${path} --undo`,
  )
}
