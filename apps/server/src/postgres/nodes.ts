import type { ClientBase, Pool } from 'pg'

/** What is wrong with a node of a distributed database. */
export interface NodeFault {
  /** Its host and port. */
  readonly node: string
  /** The names of the settings that are off there, under which 200 would not mean durable. */
  readonly lossy: readonly string[]
  /** Why nothing can be stored there now; undefined where something can. */
  readonly obstacle: string | undefined
}

export interface Nodes {
  /** Host and port of each node; none where the database is one server, as far as it shows. */
  readonly names: readonly string[]
  readonly faults: readonly NodeFault[]
}

/** How long a node may take to reply; a create would wait for it as long. */
const NODE_TIMEOUT_MS = 2_000

/** Asked on each node. */
const FAULTS = `SELECT coalesce(string_agg(name, ',' ORDER BY name), '') FROM pg_settings
  WHERE (name, setting) IN (('fsync', 'off'), ('full_page_writes', 'off'),
    ('synchronous_commit', 'off'), ('transaction_read_only', 'on'))`

/** Whether the database keeps a list of nodes, and runs statements on them. */
const PROBE = `SELECT to_regclass('pg_catalog.pg_dist_node') IS NOT NULL AND EXISTS (
    SELECT FROM pg_catalog.pg_proc WHERE proname = 'master_run_on_worker'
  ) AS "hasNodes"`

const NODES = `SELECT nodename AS host, nodeport AS port FROM pg_catalog.pg_dist_node
  WHERE isactive AND noderole = 'primary' ORDER BY groupid`

const ASK = `SELECT success, result
  FROM pg_catalog.master_run_on_worker(ARRAY[$1::text], ARRAY[$2::int], ARRAY[$3::text], false)`

interface Address {
  readonly host: string
  readonly port: number
}

function judge(node: string, isReached: boolean, result: string): NodeFault | undefined {
  if (!isReached) return { node, lossy: [], obstacle: `the node ${node} fails: ${result}` }
  const faults = result.split(',').filter((name) => name !== '')
  if (faults.length === 0) return undefined
  const lossy = faults.filter((name) => name !== 'transaction_read_only')
  const obstacle = lossy.length < faults.length ? `the node ${node} is read-only` : undefined
  return { node, lossy, obstacle }
}

async function ask(pool: Pool, { host, port }: Address): Promise<NodeFault | undefined> {
  const node = `${host}:${port}`
  const values = [host, port, FAULTS]
  try {
    // A limit of its own: pg's types leave it out, and a node that is cut off never replies.
    const query = { text: ASK, values, query_timeout: NODE_TIMEOUT_MS }
    const { rows } = await pool.query<{ success: boolean; result: string }>(query)
    return judge(node, rows[0]?.success ?? false, rows[0]?.result ?? '')
  } catch (error) {
    return judge(node, false, error instanceof Error ? error.message : String(error))
  }
}

/** Whether this database knows of nodes, whatever it is called. */
export async function hasNodes(client: ClientBase | Pool): Promise<boolean> {
  const { rows } = await client.query<{ hasNodes: boolean }>(PROBE)
  return rows[0]?.hasNodes ?? false
}

/**
 * Asks each node for its settings, one after the other, on connections of the database's own. Each
 * is asked for itself, so that one that does not reply is named. @throws when the database does not
 */
export async function findNodes(pool: Pool): Promise<Nodes> {
  if (!(await hasNodes(pool))) return { names: [], faults: [] }
  const { rows } = await pool.query<Address>(NODES)
  const faults: NodeFault[] = []
  for (const address of rows) {
    const fault = await ask(pool, address)
    if (fault !== undefined) faults.push(fault)
  }
  return { names: rows.map(({ host, port }) => `${host}:${port}`), faults }
}
