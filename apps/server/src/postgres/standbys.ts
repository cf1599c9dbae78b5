import type { Fact } from '../store/engine.ts'
import type { StandbyMeasures } from '../store/observer.ts'
import { askNodes } from './citus.ts'
import type { Connections } from './hosts.ts'

/** Of one server; no row on a standby. Columns are null for users without pg_read_all_stats. */
const STANDBYS = `SELECT current_setting('synchronous_standby_names', true) AS names,
    current_setting('synchronous_commit') AS "waitsFor", count(pid)::int AS connected,
    CASE count(sync_state) WHEN 0 THEN count(pid)
    ELSE count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) END::int AS synchronous
  FROM pg_stat_replication WHERE state IS DISTINCT FROM 'backup' HAVING NOT pg_is_in_recovery()`

interface Standbys {
  readonly names: string | null
  readonly waitsFor: string
  readonly connected: number
  readonly synchronous: number
}

/** What a failover would cost, by the settings and the standbys of a primary. */
function describe({ names, waitsFor, connected, synchronous }: Standbys, of = ''): Fact {
  const name = 'standby'
  const loss = 'after a failover the last plants that were answered 200 may be missing'
  if (!names) {
    const value = `${of}${connected} connected, none of them synchronous`
    const fix = "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'; SELECT pg_reload_conf()"
    return connected === 0 ? { name, value: `${of}none` } : { name, value, warning: loss, fix }
  }
  const value = `${of}${synchronous} for synchronous_standby_names = ${names}`
  if (synchronous === 0) {
    const fix = 'start a standby of that name, and look into its log if it runs'
    return { name, value, warning: 'every create waits for one', fix }
  }
  if (waitsFor === 'on' || waitsFor === 'remote_apply') return { name, value }
  return { name, value, warning: loss, fix: 'synchronous_commit = on' }
}

const AS_JSON = `SELECT row_to_json(seen)::text FROM (${STANDBYS}) AS seen`

const HAS_NODES = "SELECT WHERE to_regclass('pg_catalog.pg_dist_node') IS NOT NULL"

/** A fact for each server of the database that is a primary: one, or the coordinator and its nodes. */
export function readStandbyFacts(connections: Connections): Promise<Fact[]> {
  return connections.use(async (client) => {
    const { rows } = await client.query<Standbys>(STANDBYS)
    if ((await client.query(HAS_NODES)).rowCount === 0) return rows.map((row) => describe(row))
    const nodes = (await askNodes(client, AS_JSON)).filter(({ result }) => result)
    return [
      ...rows.map((row) => describe(row, 'coordinator: ')),
      ...nodes.map(({ node, result }) => describe(JSON.parse(result), `${node}: `)),
    ]
  })
}

/** Of the primary or coordinator; undefined where it is not known. */
export async function measureStandbys(
  connections: Connections,
): Promise<StandbyMeasures | undefined> {
  const [row] = (await connections.query<Standbys>(STANDBYS)).rows
  if (row === undefined) return undefined
  const { names, connected, synchronous } = row
  if (!names) return { expected: 0, connected, synchronous: 0 }
  // `FIRST 2 (a, b)`, `2 (a, b)`, or one of `a, b`.
  const [, count = '1'] = /^\s*(?:FIRST|ANY)?\s*(\d+)\s*\(/i.exec(names) ?? []
  return { expected: Number(count), connected, synchronous }
}
