import type { DatabaseSync } from 'node:sqlite'
import { plantFields } from '../store/plant-columns.ts'
import { StoreRefusedError } from '../store/store.ts'
import { displayName } from '../text/display-name.ts'
import { connect } from './connect.ts'
import { LEFTOVERS } from './leftovers.ts'
import { migrate, NEWEST_VERSION, refuseNewerSchema, schemaVersionOf } from './migrations.ts'

/** A table, index, view or trigger as SQLite records it (https://sqlite.org/schematab.html). */
interface SchemaEntry {
  readonly type: string
  readonly name: string
  readonly tbl_name: string
  readonly sql: string | null
}

/** What may be in a store beside what the migrations make: it takes no plant away and lets no token in. */
const HARMLESS = new Set<string | null>([
  ...LEFTOVERS,
  // ANALYZE and PRAGMA optimize (https://sqlite.org/fileformat2.html#stat1tab).
  'CREATE TABLE sqlite_stat1(tbl,idx,stat)',
  'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)',
  // Litestream, from when it first replicates the file.
  'CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)',
  'CREATE TABLE _litestream_lock (id INTEGER)',
])

function readSchema(database: DatabaseSync): SchemaEntry[] {
  const rows = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema').all()
  return rows as unknown as SchemaEntry[]
}

function makeSchema(version: number): SchemaEntry[] {
  const database = connect(':memory:')
  try {
    migrate(database, ':memory:', version)
    return readSchema(database)
  } finally {
    database.close()
  }
}

function isNamedAs(one: SchemaEntry, other: SchemaEntry): boolean {
  return one.type === other.type && one.name === other.name
}

function isSame(one: SchemaEntry, other: SchemaEntry): boolean {
  return isNamedAs(one, other) && one.tbl_name === other.tbl_name && one.sql === other.sql
}

function isHarmless({ sql }: SchemaEntry): boolean {
  return HARMLESS.has(sql)
}

/** What differs, each by its name. */
function compare(found: readonly SchemaEntry[], made: readonly SchemaEntry[]): string[] {
  const strange = found.filter((entry) => !made.some((other) => isSame(entry, other)))
  const lost = made.filter((entry) => !found.some((other) => isNamedAs(entry, other)))
  const describe = (what: string) => (entry: SchemaEntry) =>
    `${displayName(String(entry.type))} ${displayName(String(entry.name))} ${what}`
  return [
    ...strange.map((entry) => {
      const isChanged = made.some((other) => isNamedAs(entry, other))
      return describe(isChanged ? 'was changed' : 'was added')(entry)
    }),
    ...lost.map(describe('is missing')),
  ]
}

function findDifferences(database: DatabaseSync, path: string): string[] {
  const found = readSchema(database).filter((entry) => !isHarmless(entry))
  // Asked for the version only if it is what the first migration makes, and no table that runs code.
  const own = found.filter(({ name }) => name === 'migrations')
  const differences = compare(own, own.length === 0 ? [] : makeSchema(1).filter(isOfMigrations))
  if (differences.length > 0) return differences
  refuseNewerSchema(database, path)
  const version = schemaVersionOf(database)
  const all = compare(found, makeSchema(version))
  return all.length > 0 || version < NEWEST_VERSION ? all : findMissingColumns(database)
}

/** Fields of a plant that no migration makes a column for. */
function findMissingColumns(database: DatabaseSync): string[] {
  const columns = database.prepare('SELECT * FROM plants').columns()
  return plantFields
    .filter((field) => !columns.some(({ name }) => name === field))
    .map((field) => `table plants lacks the column ${field}`)
}

function isOfMigrations({ name }: SchemaEntry): boolean {
  return name === 'migrations'
}

/**
 * Compares all that a file's schema holds with what the migrations make up to its version.
 * Nothing in the schema has run before.
 * @throws StoreRefusedError that names what was added, changed or lost, or for a newer version.
 */
export function refuseStrangeSchema(database: DatabaseSync, path: string): void {
  // One transaction, because another process may migrate meanwhile.
  database.exec('BEGIN')
  try {
    const differences = findDifferences(database, path)
    if (differences.length === 0) return
    throw new StoreRefusedError(
      `${path} is not as this program made it: ${differences.join(', ')}`,
      {
        code: 'schema',
        fix: 'find out who did that and what came of it, then take it back with the sqlite3 program, or restore a backup',
      },
    )
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK')
  }
}
