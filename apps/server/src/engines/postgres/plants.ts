import type { NewPlant } from '@plant-store/contract'
import type { PoolClient } from 'pg'
import {
  fromRow,
  hasSameContent,
  listColumns,
  plantColumns,
  plantFields,
} from '../../store/plant-columns.ts'
import type { CreateOutcome } from '../../store/store.ts'
import type { Tables } from './tables.ts'

const ARRAYS = plantFields.map((field, index) => {
  return `$${index + 1}::${plantColumns[field].postgres}[]`
})

/** In id order, so that overlapping batches of several servers take their locks in one order. */
function insertInto({ plants }: Tables) {
  return {
    name: 'insert-plants',
    text: `INSERT INTO ${plants} (${listColumns()})
      SELECT * FROM unnest(${ARRAYS.join(', ')}) AS batch (${listColumns()})
      ORDER BY id
      ON CONFLICT (id) DO NOTHING
      RETURNING id`,
  }
}

/**
 * A statement of its own, because the first one's snapshot may be older than what it ran into. The
 * commit that stored what it finds may have been cut off while it waited for a standby. So it
 * writes a record to the log, for everybody who reads logs to overlook: its own commit then waits
 * until the standby has that, and all that came before it. It needs no privilege, as a lock would.
 */
function selectFrom({ plants }: Tables) {
  return {
    name: 'select-plants',
    text: `WITH record AS MATERIALIZED (
        SELECT pg_logical_emit_message(true, 'plant-store', ''::text) AS position
      )
      SELECT ${listColumns()} FROM record, ${plants}
      WHERE id = ANY ($1::bigint[]) AND position IS NOT NULL`,
  }
}

function byId(one: NewPlant, other: NewPlant): number {
  return one.id < other.id ? -1 : 1
}

async function insert(
  client: PoolClient,
  tables: Tables,
  plants: readonly NewPlant[],
): Promise<Set<bigint>> {
  const columns = plantFields.map((field) => plants.map((plant) => plant[field] ?? null))
  const { rows } = await client.query<{ id: string }>({ ...insertInto(tables), values: columns })
  return new Set(rows.map(({ id }) => BigInt(id)))
}

async function select(
  client: PoolClient,
  tables: Tables,
  ids: readonly bigint[],
): Promise<Map<bigint, NewPlant>> {
  if (ids.length === 0) return new Map()
  const { rows } = await client.query({ ...selectFrom(tables), values: [ids] })
  return new Map(rows.map(fromRow).map((plant) => [plant.id, plant]))
}

/**
 * Inserts a batch in one statement, which is one transaction, and gives the outcome of each plant.
 * A plant that is there with the same content counts as stored, so a repeat is harmless.
 */
export async function insertPlants(
  client: PoolClient,
  tables: Tables,
  batch: readonly NewPlant[],
  onStored: () => void,
): Promise<CreateOutcome[]> {
  const firsts = new Map<bigint, NewPlant>()
  for (const plant of batch) if (!firsts.has(plant.id)) firsts.set(plant.id, plant)
  const created = await insert(client, tables, [...firsts.values()].sort(byId))
  if (created.size > 0) onStored()
  const found = await select(
    client,
    tables,
    [...firsts.keys()].filter((id) => !created.has(id)),
  )
  return batch.map((plant) => {
    const first = firsts.get(plant.id)
    if (first === plant && created.has(plant.id)) return 'created'
    const stored = created.has(plant.id) ? first : found.get(plant.id)
    // Repeated from the start: somebody deleted the row between the two statements.
    if (stored === undefined) throw new Error(`plant ${plant.id} is neither new nor there`)
    return hasSameContent(stored, plant) ? 'already_there' : 'id_taken'
  })
}
