import type { NewPlant } from '@plant-store/contract'
import type { PoolClient } from 'pg'
import type { CreateOutcome } from '../../store/store.ts'
import type { Tables } from './tables.ts'

/** In id order, so that overlapping batches of several servers take their locks in one order. */
function insertInto({ plants }: Tables) {
  return {
    name: 'insert-plants',
    text: `INSERT INTO ${plants} (id, name, tag)
      SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) AS batch (id, name, tag)
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
      SELECT id, name, tag FROM record, ${plants}
      WHERE id = ANY ($1::bigint[]) AND position IS NOT NULL`,
  }
}

interface Row {
  readonly id: string
  readonly name: string
  readonly tag: string | null
}

type Content = Pick<Row, 'name' | 'tag'>

function contentOf(plant: NewPlant | undefined): Content | undefined {
  return plant && { name: plant.name, tag: plant.tag ?? null }
}

function byId(one: NewPlant, other: NewPlant): number {
  return one.id < other.id ? -1 : 1
}

async function insert(
  client: PoolClient,
  tables: Tables,
  plants: readonly NewPlant[],
): Promise<Set<bigint>> {
  const columns = [
    plants.map(({ id }) => id),
    plants.map(({ name }) => name),
    plants.map(({ tag }) => tag ?? null),
  ]
  const { rows } = await client.query<Pick<Row, 'id'>>({ ...insertInto(tables), values: columns })
  return new Set(rows.map(({ id }) => BigInt(id)))
}

async function select(
  client: PoolClient,
  tables: Tables,
  ids: readonly bigint[],
): Promise<Map<bigint, Content>> {
  if (ids.length === 0) return new Map()
  const { rows } = await client.query<Row>({ ...selectFrom(tables), values: [ids] })
  return new Map(rows.map(({ id, name, tag }) => [BigInt(id), { name, tag }]))
}

/**
 * Inserts a batch in one statement, which is one transaction, and tells what became of each plant.
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
    const stored = created.has(plant.id) ? contentOf(first) : found.get(plant.id)
    // Repeated from the start: somebody deleted the row between the two statements.
    if (stored === undefined) throw new Error(`plant ${plant.id} is neither new nor there`)
    const isSame = stored.name === plant.name && stored.tag === (plant.tag ?? null)
    return isSame ? 'already_there' : 'id_taken'
  })
}
