import type { DatabaseSync } from 'node:sqlite'
import { readValue } from './inspect.ts'
import { schemaVersionOf } from './migrations.ts'

/** What a store holds, as one transaction sees it. */
export interface StoreContents {
  readonly schemaVersion: number
  readonly plants: number
  readonly tokens: number
}

function countRows(database: DatabaseSync, table: 'plants' | 'tokens'): number {
  const exists = readValue(
    database,
    `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '${table}'`,
  )
  return exists === 0 ? 0 : Number(readValue(database, `SELECT count(*) FROM ${table}`))
}

export function readContents(database: DatabaseSync): StoreContents {
  return {
    schemaVersion: schemaVersionOf(database),
    plants: countRows(database, 'plants'),
    tokens: countRows(database, 'tokens'),
  }
}
