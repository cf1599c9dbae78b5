import { isUtf8 } from 'node:buffer'
import type { DatabaseSync } from 'node:sqlite'
import { contentFields, plantColumns, quoteColumn, textFields } from '../../store/plant-columns.ts'

/** What was read is not what a store can hold; the message says what and where. */
export class DamageError extends Error {
  override name = 'DamageError'
}

/** Plants in id order that were checked in one short transaction. */
export interface CheckedPart {
  readonly plants: number
  /** Of their text. */
  readonly bytes: number
  /** Where the next part begins; undefined after the last plant. */
  readonly next: bigint | undefined
}

/** So that a part needs little memory, however long names may be. */
const MOST_BYTES = 1_048_576

export const SMALLEST_ID = -(2n ** 63n)

function lengthOf(fields: readonly string[]): string {
  return fields.map((field) => `ifnull(octet_length(${quoteColumn(field)}), 0)`).join(' + ')
}

const MEASURE = `SELECT count(*) AS plants, max(id) AS last, sum(bytes) AS bytes
  FROM (SELECT id, ${lengthOf(textFields)} AS bytes FROM plants WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?)`

function isOfType(field: (typeof contentFields)[number]): string {
  const { isText, isRequired } = plantColumns[field]
  const types = [isText ? 'text' : 'integer', ...(isRequired ? [] : ['null'])]
  return `typeof(found.${quoteColumn(field)}) IN (${types.map((type) => `'${type}'`).join(', ')})`
}

/** Each plant is looked up by its id, as a create does it. */
const READ = `SELECT count(*) AS plants, is_ascending(part.id) AS ascending,
    sum(${contentFields.map(isOfType).join(' AND ')}) AS typed,
    CAST(group_concat(${textFields.map((field) => `ifnull(found.${quoteColumn(field)}, '')`).join(" || ',' || ")}) AS BLOB) AS text
  FROM plants AS part CROSS JOIN plants AS found ON found.id = part.id
  WHERE part.id BETWEEN ? AND ?`

/** Or the smallest possible, where there is no plant. */
function readLastId(database: DatabaseSync): bigint {
  const select = database.prepare('SELECT max(id) AS last FROM plants')
  select.setReadBigInts(true)
  const last = select.get()?.last
  return typeof last === 'bigint' ? last : SMALLEST_ID
}

/** SQL's `is_ascending(id)`: 1 where the ids come in ascending order, else 0. */
function addIsAscending(database: DatabaseSync): void {
  database.aggregate('is_ascending', {
    start: () => SMALLEST_ID - 1n,
    step: (last, id) => (last !== null && id !== null && id > last ? id : null),
    result: (last) => (last === null ? 0n : 1n),
    useBigIntArguments: true,
  })
}

/**
 * Makes the function that checks up to `limit` plants from an id on, and none that comes after those
 * that are there now, so that a check ends under any load. It checks their order, their types, and
 * that text is UTF-8; SQLite checks the pages that hold them as it reads them.
 * It throws DamageError, or what SQLite throws.
 */
export function preparePartCheck(
  database: DatabaseSync,
): (from: bigint, limit: number) => CheckedPart {
  const end = readLastId(database)
  addIsAscending(database)
  const measure = database.prepare(MEASURE)
  const read = database.prepare(READ)
  for (const statement of [measure, read]) statement.setReadBigInts(true)

  function checkPlants(from: bigint, last: bigint, plants: bigint): void {
    const found = read.get(from, last)
    const place = `between the ids ${from} and ${last}`
    const isInOrder = found?.plants === plants && found.ascending === 1n
    if (!isInOrder) throw new DamageError(`plants ${place} are not in order`)
    if (found.typed !== plants)
      throw new DamageError(`a plant ${place} has a value of a wrong type`)
    if (isUtf8(found.text as Uint8Array)) return
    throw new DamageError(`a plant ${place} has text that is not UTF-8`)
  }

  function checkPart(from: bigint, limit: number): CheckedPart {
    const measured = measure.get(from, end, limit)
    const { plants, last, bytes } = measured as Record<'plants' | 'last' | 'bytes', bigint>
    if (plants === 0n) return { plants: 0, bytes: 0, next: undefined }
    if (bytes > MOST_BYTES && limit > 1) return checkPart(from, Math.ceil(limit / 4))
    checkPlants(from, last, plants)
    const isLast = plants < limit || last === end
    return { plants: Number(plants), bytes: Number(bytes), next: isLast ? undefined : last + 1n }
  }

  return (from, limit) => {
    database.exec('BEGIN')
    try {
      return checkPart(from, limit)
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK')
    }
  }
}
