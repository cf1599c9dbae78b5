import type { NewPlant } from '@plant-store/contract'
import type { PoolClient } from 'pg'
import { fromRow, hasSameContent, listColumns, plantFields, toRow } from '../store/plant-columns.ts'
import type { CreateOutcome } from '../store/store.ts'
import type { Tables } from './tables.ts'

/**
 * How many rows the statement of a batch has: one of 64 sizes up to 1,024 rows, at most an eighth
 * more than the batch. So each is prepared once for a connection. Rows in VALUES, because a database
 * that distributes them by id sends each to its node; what it would select, it collects first.
 */
export function sizeFor(plants: number): number {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(plants)) - 4)
  return Math.ceil(plants / step) * step
}

const texts = new Map<string, string>()

function insertInto(plants: string, size: number): string {
  const key = `${plants} ${size}`
  const known = texts.get(key)
  if (known !== undefined) return known
  const width = plantFields.length
  const rows = Array.from({ length: size }, (_, row) => {
    return `(${plantFields.map((_, index) => `$${row * width + index + 1}`).join(', ')})`
  })
  const text = `INSERT INTO ${plants} (${listColumns()}) VALUES ${rows.join(', ')}
    ON CONFLICT (id) DO NOTHING RETURNING id`
  texts.set(key, text)
  return text
}

async function insert(
  client: PoolClient,
  tables: Tables,
  plants: readonly NewPlant[],
): Promise<Set<bigint>> {
  const size = sizeFor(plants.length)
  // In id order, so that overlapping batches of several servers take their locks in one order.
  const values = plants.toSorted((one, other) => (one.id < other.id ? -1 : 1)).flatMap(toRow)
  // The rows beyond the batch repeat its last one, and so are in conflict with it.
  const last = values.slice(-plantFields.length)
  for (let row = plants.length; row < size; row++) values.push(...last)
  const text = insertInto(tables.plants, size)
  const query = { name: `insert-plants-${size}`, text, values }
  const { rows } = await client.query<{ id: string }>(query)
  return new Set(rows.map(({ id }) => BigInt(id)))
}

/**
 * A statement of its own, because the first one's snapshot may be older than what it ran into. The
 * commit that stored what it finds may have been cut off while it waited for a standby. So each row
 * writes a record to the log of the node that holds it, for everybody who reads logs to overlook:
 * the statement's own commit there then waits until the standby has that, and all that came before
 * it. Said once for all rows, in a subquery, it would go to the log of the coordinator. It needs no
 * privilege, as a lock would.
 */
async function select(
  client: PoolClient,
  { plants }: Tables,
  ids: readonly bigint[],
): Promise<Map<bigint, NewPlant>> {
  if (ids.length === 0) return new Map()
  const text = `SELECT ${listColumns()},
    pg_logical_emit_message(true, 'plant-store', ''::text) IS NOT NULL AS is_recorded
    FROM ${plants} WHERE id = ANY ($1::bigint[])`
  const { rows } = await client.query({ name: 'select-plants', text, values: [ids] })
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
  const created = await insert(client, tables, [...firsts.values()])
  if (created.size > 0) onStored()
  const others = [...firsts.keys()].filter((id) => !created.has(id))
  const found = await select(client, tables, others)
  return batch.map((plant) => {
    const first = firsts.get(plant.id)
    if (first === plant && created.has(plant.id)) return 'created'
    const stored = created.has(plant.id) ? first : found.get(plant.id)
    // Repeated from the start: somebody deleted the row between the two statements.
    if (stored === undefined) throw new Error(`plant ${plant.id} is neither new nor there`)
    return hasSameContent(stored, plant) ? 'already_there' : 'id_taken'
  })
}
