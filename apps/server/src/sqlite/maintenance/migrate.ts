import type { Migrated } from '../../store/engine.ts'
import { openDatabase } from '../database/database.ts'
import { openForReading } from '../database/inspect.ts'
import { NEWEST_VERSION, schemaVersionOf } from '../database/migrations.ts'
import { sizeOf } from '../files/measure-files.ts'

function readVersion(path: string): number {
  if ((sizeOf(path) ?? 0) === 0) return 0
  const database = openForReading(path)
  try {
    return schemaVersionOf(database)
  } finally {
    database.close()
  }
}

/**
 * Brings a store to the newest schema, making it if it is missing; gives both versions.
 * @throws StoreRefusedError when the file must not be used.
 */
export async function migrateSqlite(path: string): Promise<Migrated> {
  const before = readVersion(path)
  const database = await openDatabase(path)
  database.close()
  const note = 'A SQLite store migrates by itself when it is opened.'
  return { before, after: NEWEST_VERSION, place: path, note }
}
