import { createHash, type Hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as pause } from 'node:timers/promises'
import { quoteColumn } from '../../store/plant-columns.ts'
import { StoreRefusedError } from '../../store/store.ts'
import { hasTable } from './migrations.ts'

/** Where a backup keeps the SHA-256 of its content; a store has no such table. */
export const DIGEST_TABLE = 'CREATE TABLE backup_digest (sha256 BLOB NOT NULL) STRICT'

/** SQL for each column of a table, in its order: those that its schema version has. */
function columnsOf(database: DatabaseSync, table: string): string[] {
  const columns = database.prepare(`SELECT * FROM ${table}`).columns()
  return columns.map(({ name, type }) => {
    const column = quoteColumn(name)
    return type === 'BLOB' ? `hex(${column})` : column
  })
}

/** SQL for a row as netstrings (https://cr.yp.to/proto/netstrings.txt), with - for NULL. */
function rowOf(columns: readonly string[]): string {
  return columns
    .map((column) => `coalesce(octet_length(${column}) || ':' || ${column} || ',', '-')`)
    .join(' || ')
}

function hashFew(hash: Hash, database: DatabaseSync, table: string): void {
  const columns = columnsOf(database, table)
  const select = database.prepare(
    `SELECT CAST(${rowOf(columns)} AS BLOB) AS row FROM ${table} ORDER BY ${columns[0]}`,
  )
  for (const { row } of select.iterate()) hash.update(row as Uint8Array)
}

const SMALLEST_ID = -(2n ** 63n)
const LARGEST_ID = 2n ** 63n - 1n

/** Many rows in one value are quickest; SQLite takes no value over a gigabyte, nor does memory. */
const MOST_ROWS = 1_000
const MOST_BYTES = 16_777_216

function rowsAtOnce(database: DatabaseSync, columns: readonly string[]): number {
  const length = columns.map((column) => `ifnull(octet_length(${column}), 0)`).join(' + ')
  const select = database.prepare(`SELECT max(${length}) AS bytes FROM plants`)
  const longest = Number(select.get()?.bytes ?? 0)
  return Math.max(1, Math.min(MOST_ROWS, Math.floor(MOST_BYTES / (longest + 1))))
}

interface Rows {
  readonly bytes: Uint8Array
  readonly count: number
}

function* readPlants(database: DatabaseSync): Generator<Rows> {
  const columns = columnsOf(database, 'plants')
  const select = database.prepare(
    `SELECT max(id) AS last, count(*) AS count, CAST(group_concat(${rowOf(columns)}, '' ORDER BY id) AS BLOB) AS bytes
      FROM (SELECT * FROM plants WHERE id >= ? ORDER BY id LIMIT ${rowsAtOnce(database, columns)})`,
  )
  select.setReadBigInts(true)
  for (let from = SMALLEST_ID; from <= LARGEST_ID; ) {
    const { last, count, bytes } = select.get(from) ?? {}
    if (typeof last !== 'bigint') return
    yield { bytes: bytes as Uint8Array, count: Number(count) }
    from = last + 1n
  }
}

/**
 * The SHA-256 of every row of a store, in hexadecimal: of the bytes as they are stored, so that two
 * files have the same only if they hold the same. Call it in a transaction. `onPlants` is called with
 * the number of plants that were read so far.
 * @throws the reason of `signal` when it is aborted meanwhile.
 */
export async function digestRows(
  database: DatabaseSync,
  signal?: AbortSignal,
  onPlants?: (plants: number) => void,
): Promise<string> {
  const hash = createHash('sha256')
  let plants = 0
  for (const table of ['migrations', 'tokens', 'plants'] as const) {
    hash.update(`${table}\n`)
    if (!hasTable(database, table)) continue
    if (table !== 'plants') hashFew(hash, database, table)
    else {
      for (const { bytes, count } of readPlants(database)) {
        hash.update(bytes)
        plants += count
        onPlants?.(plants)
        await pause()
        signal?.throwIfAborted()
      }
    }
  }
  return hash.digest('hex')
}

/** The digest that a backup carries; undefined for one of an earlier program, and for a store. */
export function readDigest(database: DatabaseSync): string | undefined {
  if (!hasTable(database, 'backup_digest')) return undefined
  const rows = database.prepare('SELECT hex(sha256) AS sha256 FROM backup_digest').all()
  return rows.map(({ sha256 }) => String(sha256).toLowerCase()).join()
}

export function removeDigest(database: DatabaseSync): void {
  database.exec('DROP TABLE IF EXISTS backup_digest')
}

export function writeDigest(database: DatabaseSync, sha256: string): void {
  removeDigest(database)
  database.exec(`${DIGEST_TABLE}; INSERT INTO backup_digest VALUES (x'${sha256}')`)
}

/** @throws StoreRefusedError when a backup does not hold what its digest is of. */
export function refuseChangedContent(
  path: string,
  carried: string | undefined,
  sha256: string,
): void {
  if (carried === undefined || carried === sha256) return
  throw new StoreRefusedError(
    `${path} does not hold what was backed up: its content has another SHA-256 than it had then. ` +
      'Try: another backup, or another copy of this one',
  )
}
