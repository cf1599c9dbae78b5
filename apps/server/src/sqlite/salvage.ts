import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { INT64_MAX, INT64_MIN, type NewPlant } from '@plant-store/contract'
import { contentFields, fromRow, plantColumns, plantFields } from '../store/plant-columns.ts'
import type { IdRange } from '../store/store.ts'
import { isCorrupt, isOfFile } from './errors.ts'

class DamagedRowError extends Error {}

const requiredFields = plantFields.filter((field) => plantColumns[field].isRequired)

/** The plant of a row. @throws DamagedRowError for one that no commit wrote, which a damaged page may show. */
function toPlant(row: Readonly<Record<string, unknown>>, least: bigint): NewPlant {
  const plant = fromRow(row)
  const isWhole = requiredFields.every((field) => plant[field] !== undefined)
  // No plant has U+0000, which a text has in place of bytes that are lost.
  const isText = contentFields.every((field) => !String(plant[field]).includes('\0'))
  if (isWhole && isText && plant.id >= least) return plant
  throw new DamagedRowError()
}

function isDamage(error: unknown): boolean {
  return error instanceof DamagedRowError || isCorrupt(error) || isOfFile(error)
}

/** The id of the first plant from an id up, beyond all ids where there is none; undefined where that is damaged. */
function firstFrom(select: StatementSync, id: bigint): bigint | undefined {
  try {
    const row = select.get(id)
    return row === undefined ? INT64_MAX + 1n : toPlant(row, id).id
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

/**
 * The id of the first plant behind a damaged id. Looks further and further ahead, each time a little,
 * so that a good page between two damaged ones is found, and then for the end of the damage.
 */
function findNext(select: StatementSync, damaged: bigint): bigint {
  let low = damaged
  let high = INT64_MAX + 1n
  for (let ahead = 1n; damaged + ahead < high; ahead += 1n + ahead / 16n) {
    if (firstFrom(select, damaged + ahead) !== undefined) high = damaged + ahead
    else low = damaged + ahead
  }
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    if (firstFrom(select, middle) === undefined) low = middle
    else high = middle
  }
  return high > INT64_MAX ? high : (firstFrom(select, high) ?? high)
}

/**
 * Every plant in id order. Damage costs no more than the plants of the damaged page: reading goes on
 * behind it, and `gaps` gets the ids that may be missing.
 */
export function* readPlants(database: DatabaseSync, gaps: IdRange[]): Generator<NewPlant> {
  // All columns: a store of an older schema version may have fewer.
  const sql = 'SELECT * FROM plants WHERE id >= ? ORDER BY id'
  // A statement that has failed once would lose a row the next time.
  const prepare = (text: string) => {
    const select = database.prepare(text)
    select.setReadBigInts(true)
    return select
  }
  let next: bigint = INT64_MIN
  while (next <= INT64_MAX) {
    try {
      for (const row of prepare(sql).iterate(next)) {
        const plant = toPlant(row, next)
        next = plant.id + 1n
        yield plant
      }
      return
    } catch (error) {
      if (!isDamage(error)) throw error
      const first = next
      next = findNext(prepare(`${sql} LIMIT 1`), first)
      gaps.push({ first, last: next - 1n })
    }
  }
}
