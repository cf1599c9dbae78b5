import type { NewPlant } from '@plant-store/contract'
import type { PoolClient } from 'pg'
import { type PlantSnapshot, StoreUnavailableError } from '../store.ts'
import { readPostgresUrl } from './address.ts'
import { refuseOtherSchema } from './migrations.ts'
import { openPool } from './pool.ts'

/** Few enough that plants of 64 KiB each stay a few MB. */
const BATCH_PLANTS = 100

interface Row {
  readonly id: string
  readonly name: string
  readonly tag: string | null
}

function toPlant({ id, name, tag }: Row): NewPlant {
  return tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag }
}

async function* readBatches(client: PoolClient): AsyncGenerator<NewPlant[]> {
  const fetch = `FETCH ${BATCH_PLANTS} FROM plants_in_order`
  for (;;) {
    const { rows } = await client.query<Row>(fetch)
    if (rows.length === 0) return
    yield rows.map(toPlant)
  }
}

/**
 * Opens a snapshot: one read-only transaction and a cursor in it, beside whatever is written.
 * @throws StoreRefusedError and StoreUnavailableError as openPostgresStore does.
 */
export async function openPostgresSnapshot(databaseUrl: string): Promise<PlantSnapshot> {
  const address = readPostgresUrl(databaseUrl)
  // Reading loses nothing, so the settings that writing needs are not asked for.
  const pool = openPool({ address, allowDataLoss: true, isPatient: true })
  try {
    await refuseOtherSchema(pool, address.place)
    const client = await pool.connect()
    await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await client.query(
      'DECLARE plants_in_order CURSOR FOR SELECT id, name, tag FROM plants ORDER BY id',
    )
    return {
      description: `PostgreSQL at ${address.place}`,
      batches: readBatches(client),
      async close() {
        client.release(true)
        await pool.end()
      },
    }
  } catch (error) {
    await pool.end()
    if (error instanceof Error && error.name === 'StoreRefusedError') throw error
    throw new StoreUnavailableError(`the database ${address.place} cannot be read`, {
      cause: error,
    })
  }
}
