import type { DatabaseSync } from 'node:sqlite'
import type { NewPlant } from '@plant-store/contract'
import { fromRow, textLengthOf } from '../store/plant-columns.ts'
import type { PlantSnapshot } from '../store/store.ts'
import { sqliteVersionOf } from './connect.ts'
import { toStoreError } from './errors.ts'
import { realPathOf } from './files.ts'
import { openForReading } from './inspect.ts'
import { schemaVersionOf } from './migrations.ts'

/** Enough that the time per batch hardly shows, and few enough that the heap stays small. */
const BATCH_PLANTS = 100
const BATCH_CHARACTERS = 65_536

function* readPlants(database: DatabaseSync): Generator<NewPlant> {
  // All columns: a store of an older schema version may have fewer.
  const select = database.prepare('SELECT * FROM plants ORDER BY id')
  select.setReadBigInts(true)
  for (const row of select.iterate()) yield fromRow(row)
}

function* readBatches(database: DatabaseSync): Generator<NewPlant[]> {
  let batch: NewPlant[] = []
  let characters = 0
  for (const plant of readPlants(database)) {
    batch.push(plant)
    characters += textLengthOf(plant)
    if (batch.length < BATCH_PLANTS && characters < BATCH_CHARACTERS) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}

async function* readInTransaction(database: DatabaseSync): AsyncGenerator<NewPlant[]> {
  try {
    yield* readBatches(database)
  } catch (error) {
    throw toStoreError(error, false)
  }
}

/**
 * Reads a store, which others may write to meanwhile, in one transaction of a connection of its own.
 * While it is open the write-ahead log keeps what is written, so it grows.
 * @throws StoreRefusedError when there is no store, or one that must not be used.
 */
export function openSqliteSnapshot(path: string): PlantSnapshot {
  const database = openForReading(path)
  database.exec('BEGIN')
  // The first read fixes what the transaction sees.
  const isNew = schemaVersionOf(database) === 0
  return {
    description: `SQLite ${sqliteVersionOf(database)} in ${realPathOf(path)}`,
    batches: isNew ? readNothing() : readInTransaction(database),
    async close() {
      database.close()
    },
  }
}

async function* readNothing(): AsyncGenerator<NewPlant[]> {}
