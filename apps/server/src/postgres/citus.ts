import type { ClientBase, PoolClient } from 'pg'
import { StoreRefusedError } from '../store/store.ts'
import { inTransaction, type Tables } from './tables.ts'

/** How long a node may take to respond; each new connection waits for it as long. */
const NODE_TIMEOUT_MS = 2_000

/** Group 0 is the coordinator. */
const NODES = `SELECT nodename AS host, nodeport AS port FROM pg_catalog.pg_dist_node
  WHERE isactive AND noderole = 'primary' AND groupid > 0 ORDER BY groupid`

/** Runs a statement on one node, on a connection of the database's own. */
const ASK = `SELECT success, result
  FROM pg_catalog.master_run_on_worker(ARRAY[$1::text], ARRAY[$2::int], ARRAY[$3::text], false)`

/** Asked on each node: the settings there under which nothing could be stored for good. */
const FAULTS = `SELECT coalesce(string_agg(name || ' = ' || setting, ', ' ORDER BY name), '')
  FROM pg_settings WHERE (name, setting) IN (('fsync', 'off'), ('full_page_writes', 'off'),
    ('synchronous_commit', 'off'), ('transaction_read_only', 'on'))`

interface NodeResponse {
  /** Host and port. */
  readonly node: string
  readonly result: string
}

/** Asks each node but the coordinator for one text. @throws Error that names one that is lost */
export async function askNodes(client: ClientBase, text: string): Promise<NodeResponse[]> {
  const { rows } = await client.query<{ host: string; port: number }>(NODES)
  const responses: NodeResponse[] = []
  for (const { host, port } of rows) {
    const node = `${host}:${port}`
    // A limit of its own, which pg's types leave out: a node that is cut off never responds.
    const query = { text: ASK, values: [host, port, text], query_timeout: NODE_TIMEOUT_MS }
    const [row] = (await client.query<{ success: boolean; result: string }>(query)).rows
    if (!row?.success) throw new Error(`the node ${node} fails: ${row?.result}`)
    responses.push({ node, result: row.result })
  }
  return responses
}

/** @throws StoreRefusedError where a 200 would not mean durable on a node, Error where one is lost */
export async function refuseLossyNodes(client: ClientBase, place: string): Promise<void> {
  for (const { node, result } of await askNodes(client, FAULTS)) {
    if (result === '') continue
    throw new StoreRefusedError(
      `the node ${node} of the database ${place} has ${result}, so 200 would not mean durable`,
      { fix: 'the other value there, or PLANT_STORE_ALLOW_DATA_LOSS=yes' },
    )
  }
}

/** Found by its name alone, whatever calls itself what. */
const CAN_DISTRIBUTE = `SELECT FROM pg_catalog.pg_proc
  WHERE proname = 'create_distributed_table' AND pronamespace = 'pg_catalog'::regnamespace`

/** How a table is spread: h by the hash of a column, n the same on every node. */
const HOW = `SELECT partmethod::text AS how FROM pg_catalog.pg_dist_partition
  WHERE logicalrelid = $1::regclass`

const DESCRIPTION = `SELECT count(*)::int AS shards, count(DISTINCT groupid)::int AS nodes
  FROM pg_catalog.pg_dist_shard JOIN pg_catalog.pg_dist_placement USING (shardid)
  WHERE logicalrelid = $1::regclass`

const BY_ID =
  "SELECT pg_catalog.create_distributed_table($1::regclass, 'id', colocate_with => 'none')"

const EVERYWHERE = 'SELECT pg_catalog.create_reference_table($1::regclass)'

/** Spreads a table by a statement, unless it is spread already. */
async function spread(client: PoolClient, table: string, how: string, sql: string): Promise<void> {
  const [found] = (await client.query<{ how: string }>(HOW, [table])).rows
  if (found?.how === how) return
  if (found !== undefined) {
    throw new StoreRefusedError(
      `${table} is distributed in another way than this program does it`,
      {
        fix: `SELECT undistribute_table('${table}'), and the same command again`,
      },
    )
  }
  await inTransaction(client, async () => {
    await client.query(sql, [table])
    // What was there was copied; the rows that nobody reads any more only take space.
    const truncate = 'SELECT pg_catalog.truncate_local_data_after_distributing_table($1)'
    await client.query(truncate, [table])
  })
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
  { plants, tokens }: Tables,
): Promise<string> {
  if ((await client.query(CAN_DISTRIBUTE)).rows.length === 0) {
    throw new StoreRefusedError(
      `${place} cannot distribute its tables, as Citus can after CREATE EXTENSION citus`,
      {
        fix: 'the same command without --distributed, also for a database that distributes by itself',
      },
    )
  }
  await spread(client, plants, 'h', BY_ID)
  await spread(client, tokens, 'n', EVERYWHERE)
  const { rows } = await client.query<{ shards: number; nodes: number }>(DESCRIPTION, [plants])
  return `plants lie by id in ${rows[0]?.shards} shards on ${rows[0]?.nodes} nodes, tokens on every node.`
}
