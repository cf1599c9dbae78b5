import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Database } from './database.ts'

function countPlants(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return Number(database.prepare('SELECT count(*) AS count FROM plants').get()?.count)
  } finally {
    database.close()
  }
}

/** A place for a file, in a folder of its own inside `folder`; who uses it makes the file. */
export function placeSqliteDatabase(folder: string): Database {
  const ownFolder = mkdtempSync(join(folder, 'sqlite-'))
  const path = join(ownFolder, 'plants.db')
  return {
    address: path,
    countPlants: async () => countPlants(path),
    drop: async () => rmSync(ownFolder, { recursive: true }),
  }
}
