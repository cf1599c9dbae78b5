import type { DatabaseSync } from 'node:sqlite'
import type { NewPlant } from '@plant-store/contract'
import { textLengthOf } from '../store/plant-columns.ts'
import type { IdRange, PlantSnapshot, StoreRefusedError } from '../store/store.ts'
import { sqliteVersionOf } from './connect.ts'
import { toStoreError } from './errors.ts'
import { realPathOf } from './files.ts'
import { FIX_OF_STORE, openForReading } from './inspect.ts'
import { schemaVersionOf } from './migrations.ts'
import { readPlants } from './salvage.ts'

/** Enough that the time per batch hardly shows, and few enough that the heap stays small. */
const BATCH_PLANTS = 100
const BATCH_CHARACTERS = 65_536

async function* readBatches(
  database: DatabaseSync,
  gaps: IdRange[],
  isNew: boolean,
): AsyncGenerator<NewPlant[]> {
  if (isNew) return
  let batch: NewPlant[] = []
  let characters = 0
  try {
    for (const plant of readPlants(database, gaps)) {
      batch.push(plant)
      characters += textLengthOf(plant)
      if (batch.length < BATCH_PLANTS && characters < BATCH_CHARACTERS) continue
      yield batch
      batch = []
      characters = 0
    }
  } catch (error) {
    throw toStoreError(error, false)
  }
  if (batch.length > 0) yield batch
}

/** A store, also one that lacks pages at its end, of which the others can be read. */
function openDamaged(path: string): DatabaseSync {
  try {
    return openForReading(path)
  } catch (error) {
    if ((error as StoreRefusedError).code !== 'corrupt') throw error
    return openForReading(path, FIX_OF_STORE, true)
  }
}

/**
 * Reads a store, which others may write to meanwhile, in one transaction of a connection of its own.
 * While it is open the write-ahead log keeps what is written, so it grows.
 * @throws StoreRefusedError when there is no store, or one that must not be used.
 */
export function openSqliteSnapshot(path: string): PlantSnapshot {
  const database = openDamaged(path)
  database.exec('BEGIN')
  // The first read fixes what the transaction sees.
  const isNew = schemaVersionOf(database) === 0
  const gaps: IdRange[] = []
  return {
    description: `SQLite ${sqliteVersionOf(database)} in ${realPathOf(path)}`,
    batches: readBatches(database, gaps, isNew),
    gaps,
    async close() {
      database.close()
    },
  }
}
