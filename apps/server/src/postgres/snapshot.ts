import type { NewPlant } from '@plant-store/contract'
import type { PoolClient } from 'pg'
import { fromRow, listColumns } from '../store/plant-columns.ts'
import type { PlantSnapshot } from '../store/store.ts'
import { toOpenError } from './errors.ts'
import { refuseOtherSchema } from './migrations.ts'
import { useDatabase } from './pool.ts'

/** Few enough that plants of 64 KiB each stay a few MB. */
const BATCH_PLANTS = 100

async function* readBatches(client: PoolClient, place: string): AsyncGenerator<NewPlant[]> {
  const fetch = `FETCH ${BATCH_PLANTS} FROM plants_in_order`
  for (;;) {
    const { rows } = await client.query(fetch).catch((error) => {
      throw toOpenError(error, place)
    })
    if (rows.length === 0) return
    yield rows.map(fromRow)
  }
}

/**
 * Opens a snapshot: one read-only transaction and a cursor in it, beside whatever is written.
 * @throws StoreRefusedError and StoreUnavailableError as openPostgresStore does.
 */
export function openPostgresSnapshot(databaseUrl: string): Promise<PlantSnapshot> {
  // Reading loses nothing, so the settings that writing needs are not asked for.
  const options = { allowDataLoss: true, isPatient: true }
  return useDatabase(databaseUrl, options, async (database) => {
    const { connections, tables, place } = database
    await refuseOtherSchema(database)
    const client = await connections.connect()
    async function close(): Promise<void> {
      // A connection that is not given back keeps the pool from ending.
      client.release(true)
      await connections.pool.end()
    }
    try {
      await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
      const select = `SELECT ${listColumns()} FROM ${tables.plants} ORDER BY id`
      await client.query(`DECLARE plants_in_order CURSOR FOR ${select}`)
      return {
        description: `PostgreSQL at ${place}`,
        batches: readBatches(client, place),
        gaps: [],
        close,
      }
    } catch (error) {
      await close()
      throw error
    }
  })
}
