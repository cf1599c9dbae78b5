import type { DatabaseSync } from 'node:sqlite'
import { plantFields } from '../store/plant-columns.ts'
import { StoreRefusedError } from '../store/store.ts'
import { displayName } from '../text/display-name.ts'
import { connect } from './connect.ts'
import { LEFTOVERS } from './leftovers.ts'
import { migrate, NEWEST_VERSION, refuseNewerSchema, schemaVersionOf } from './migrations.ts'

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

/** A table, index, view or trigger (https://sqlite.org/schematab.html). */
interface SchemaEntry {
  readonly name: unknown
  /** Its kind and name, as JSON. */
  readonly key: string
  /** The rest that SQLite records of it, as JSON. */
  readonly content: string
  /** Its kind and name, for people. */
  readonly label: string
}

function readSchema(database: DatabaseSync): SchemaEntry[] {
  const rows = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema').all()
  const own = rows.filter(({ sql }) => !HARMLESS.has(sql as string | null))
  return own.map(({ type, name, tbl_name, sql }) => ({
    name,
    key: JSON.stringify([type, name]),
    content: JSON.stringify([tbl_name, sql]),
    label: `${displayName(String(type))} ${displayName(String(name))}`,
  }))
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

/** What differs, each by its kind and name. */
function compare(found: readonly SchemaEntry[], made: readonly SchemaEntry[]): string[] {
  const strange = found.flatMap(({ key, content, label }) => {
    const same = made.find((other) => other.key === key)
    if (same?.content === content) return []
    return `${label} was ${same === undefined ? 'added' : 'changed'}`
  })
  const lost = made.filter(({ key }) => !found.some((other) => other.key === key))
  return [...strange, ...lost.map(({ label }) => `${label} is missing`)]
}

function findDifferences(database: DatabaseSync, path: string): string[] {
  const found = readSchema(database)
  // Asked for the version only if it is what the first migration makes, and no table that runs code.
  const isOfMigrations = ({ name }: SchemaEntry) => name === 'migrations'
  const own = found.filter(isOfMigrations)
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
