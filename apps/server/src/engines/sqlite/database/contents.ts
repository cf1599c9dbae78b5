import type { DatabaseSync } from 'node:sqlite'
import type { StoreContents } from '../../../store/engine.ts'
import { readValue } from './inspect.ts'
import { hasTable, schemaVersionOf } from './migrations.ts'

function countRows(database: DatabaseSync, table: 'plants' | 'tokens'): number {
  return hasTable(database, table)
    ? Number(readValue(database, `SELECT count(*) FROM ${table}`))
    : 0
}

export function readContents(database: DatabaseSync): StoreContents {
  return {
    schemaVersion: schemaVersionOf(database),
    plants: countRows(database, 'plants'),
    tokens: countRows(database, 'tokens'),
  }
}
