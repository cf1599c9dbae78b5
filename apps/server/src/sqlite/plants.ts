import type { DatabaseSync } from 'node:sqlite'
import type { NewPlant } from '@plant-store/contract'
import {
  type ColumnValue,
  contentFields,
  listColumns,
  plantFields,
  quoteColumn,
  toRow,
} from '../store/plant-columns.ts'
import type { CreateOutcome } from '../store/store.ts'

const INSERT = `INSERT INTO plants (${listColumns()})
  VALUES (${plantFields.map(() => '?').join(', ')}) ON CONFLICT (id) DO NOTHING`

/** IS, because NULL is the same as NULL here. */
const SELECT_SAME = `SELECT 1 FROM plants
  WHERE id = ? AND ${contentFields.map((field) => `${quoteColumn(field)} IS ?`).join(' AND ')}`

/** Makes the function that inserts a row inside the transaction that its caller opened. */
export function prepareRowInsert(
  database: DatabaseSync,
): (row: readonly ColumnValue[]) => CreateOutcome {
  const insert = database.prepare(INSERT)
  // run() gives the row's id too, which no number can hold; Node 26 throws where 24 rounds.
  insert.setReadBigInts(true)
  const selectSame = database.prepare(SELECT_SAME)
  return (row) => {
    if (insert.run(...row).changes === 1n) return 'created'
    return selectSame.get(...row) === undefined ? 'id_taken' : 'already_there'
  }
}

/** Makes the function that inserts plants, in order, inside the transaction that its caller opened. */
export function preparePlantInsert(
  database: DatabaseSync,
): (plants: readonly NewPlant[]) => CreateOutcome[] {
  const insertRow = prepareRowInsert(database)
  return (plants) => plants.map((plant) => insertRow(toRow(plant)))
}
