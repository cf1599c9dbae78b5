import type { PoolClient } from 'pg'
import { StoreRefusedError } from '../store/store.ts'
import type { Tables } from './tables.ts'

/** Found by its name alone, whatever calls itself what. */
const CAN_DISTRIBUTE = `SELECT FROM pg_catalog.pg_proc
  WHERE proname = 'create_distributed_table' AND pronamespace = 'pg_catalog'::regnamespace`

/** How a table is spread: h by the hash of a column, n the same on every node. */
const HOW = `SELECT partmethod::text AS how FROM pg_catalog.pg_dist_partition
  WHERE logicalrelid = $1::regclass`

const DESCRIPTION = `SELECT count(*)::int AS shards, count(DISTINCT groupid)::int AS nodes
  FROM pg_catalog.pg_dist_shard JOIN pg_catalog.pg_dist_placement USING (shardid)
  WHERE logicalrelid = $1::regclass`

interface Wanted {
  readonly table: string
  readonly how: string
  /** Does it, with the table as $1. */
  readonly sql: string
}

/** Rates stay where they are: their statement counts by the clock, which no node may do for another. */
function wantedOf({ plants, tokens }: Tables): readonly Wanted[] {
  return [
    {
      table: plants,
      how: 'h',
      sql: "SELECT pg_catalog.create_distributed_table($1::regclass, 'id', colocate_with => 'none')",
    },
    {
      table: tokens,
      how: 'n',
      sql: 'SELECT pg_catalog.create_reference_table($1::regclass)',
    },
  ]
}

async function spread(client: PoolClient, { table, how, sql }: Wanted): Promise<void> {
  const { rows } = await client.query<{ how: string }>(HOW, [table])
  const [found] = rows
  if (found?.how === how) return
  if (found !== undefined) {
    throw new StoreRefusedError(
      `${table} is distributed in another way than this program does it. ` +
        `Try: SELECT undistribute_table('${table}'), and the same command again`,
    )
  }
  await client.query('BEGIN')
  try {
    await client.query(sql, [table])
    // What was there was copied; the rows that nobody reads any more only take space.
    await client.query('SELECT pg_catalog.truncate_local_data_after_distributing_table($1)', [
      table,
    ])
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/**
 * Spreads the tables of a store over the nodes of its database, and what they hold: plants by id,
 * tokens on every node. What is spread already stays. Creates wait meanwhile.
 * @returns how plants lie, in words
 * @throws StoreRefusedError where the database has no command for it
 */
export async function distributeTables(
  client: PoolClient,
  place: string,
  tables: Tables,
): Promise<string> {
  if ((await client.query(CAN_DISTRIBUTE)).rows.length === 0) {
    throw new StoreRefusedError(
      `${place} cannot distribute its tables by command, as Citus can after CREATE EXTENSION citus. ` +
        'Try: the same command without --distributed, also for a database that distributes by itself',
    )
  }
  for (const wanted of wantedOf(tables)) await spread(client, wanted)
  const { rows } = await client.query<{ shards: number; nodes: number }>(DESCRIPTION, [
    tables.plants,
  ])
  return `plants lie by id in ${rows[0]?.shards} shards on ${rows[0]?.nodes} nodes, tokens on every node.`
}
