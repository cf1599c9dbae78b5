import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { NewPlant } from '@plant-store/contract'
import { readPlants } from '../../../../test/sqlite-file.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'

/** Plants whose ids are spread over all of int64, the same at each call. */
export function spreadPlants(count: number): NewPlant[] {
  return Array.from({ length: count }, (_, index) => {
    const id = BigInt.asIntN(64, BigInt(index + 1) * 0x9e3779b97f4a7c15n)
    const plant = { id, name: `plant "${index}", é 🌿` }
    return index % 3 === 0 ? plant : { ...plant, tag: index % 3 === 1 ? '' : `tag\n${index}` }
  })
}

/** Makes a store with these plants, past the commands, and closes it. */
export async function makeStore(path: string, plants: readonly NewPlant[]): Promise<void> {
  await (await openSqliteStore({ path })).close()
  addPlants(path, plants)
}

/** Stores plants in one transaction, past the program. */
export function addPlants(path: string, plants: readonly NewPlant[]): void {
  const database = new DatabaseSync(path, { timeout: 10_000 })
  const insert = database.prepare('INSERT INTO plants VALUES (?, ?, ?)')
  // Node 26 throws where the row's id, which nobody asked for, is beyond 2^53.
  insert.setReadBigInts(true)
  database.exec('BEGIN')
  for (const { id, name, tag } of plants) insert.run(id, name, tag ?? null)
  database.exec('COMMIT')
  database.close()
}

/** Runs statements on a SQLite file, past the program and the defences of SQLite. */
export function execute(path: string, sql: string): void {
  const database = new DatabaseSync(path, { timeout: 10_000, defensive: false })
  database.exec(sql)
  database.close()
}

/** The first row of a query on a SQLite file, past the program. */
export function query(path: string, sql: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database.prepare(sql).get()
  } finally {
    database.close()
  }
}

/** The names of its tables, views and triggers, in order. */
export function namesIn(path: string): unknown {
  const names = "group_concat(name, ' ' ORDER BY name)"
  return query(path, `SELECT ${names} AS names FROM sqlite_schema WHERE type <> 'index'`)
}

/** The schema of a store as the program made it before there were tokens. */
export function takeSchemaBack(path: string): void {
  execute(path, 'DROP TABLE tokens; DELETE FROM migrations WHERE version = 2')
}

/** One digest of everything that a store holds. */
export function contentOf(path: string): { readonly count: number; readonly sha256: string } {
  const plants = readPlants(path)
  const hash = createHash('sha256')
  for (const { id, name, tag } of plants) hash.update(JSON.stringify([String(id), name, tag]))
  return { count: plants.length, sha256: hash.digest('hex') }
}

/** The leaf pages of plants, in id order: where each begins in the file, and how many plants it has. */
export function leavesOf(path: string): { readonly at: number; readonly plants: number }[] {
  execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)')
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database
    .prepare(`SELECT pgoffset, ncell FROM dbstat WHERE name = 'plants' AND pagetype = 'leaf'`)
    .all()
  database.close()
  return rows.map(({ pgoffset, ncell }) => ({ at: Number(pgoffset), plants: Number(ncell) }))
}

/** Overwrites one page of a SQLite file, from a byte of it on. */
export function damagePage(path: string, at: number, fill = 0, from = 0): void {
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(fill, at + from, at + 4_096))
}

/** Overwrites rows of plants at the end of a SQLite file, in a page that can still be counted. */
export function damage(path: string): void {
  execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)')
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0, bytes.length - 1_000))
}
