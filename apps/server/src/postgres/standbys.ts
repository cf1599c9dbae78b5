import type { Fact } from '../store/engine.ts'
import type { StandbyMeasures } from '../store/observer.ts'
import { askNodes } from './citus.ts'
import type { Connections } from './hosts.ts'

/** No row on a standby. Columns are null for users without pg_read_all_stats. */
const STANDBYS = `SELECT row_to_json(seen)::text FROM (
    SELECT current_setting('synchronous_standby_names', true) AS names,
      current_setting('synchronous_commit') AS "waitsFor", count(pid)::int AS connected,
      CASE count(sync_state) WHEN 0 THEN count(pid)
        ELSE count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) END::int AS synchronous
    FROM pg_stat_replication WHERE state IS DISTINCT FROM 'backup' HAVING NOT pg_is_in_recovery()
  ) AS seen`

const SEEN = `SELECT (${STANDBYS}) AS standbys,
    to_regclass('pg_catalog.pg_dist_node') IS NOT NULL AS "hasNodes"`

interface Seen {
  readonly standbys: string | null
  readonly hasNodes: boolean
}

interface Standbys {
  readonly names: string | null
  readonly waitsFor: string
  readonly connected: number
  readonly synchronous: number
}

/** What a failover would cost, by the settings and the standbys of a primary. */
function describe({ names, waitsFor, connected, synchronous }: Standbys, of: string): Fact {
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

/** A fact for each server of the database that is a primary: one, or the coordinator and its nodes. */
export async function readStandbyFacts(connections: Connections): Promise<Fact[]> {
  const client = await connections.connect()
  try {
    const [first] = (await client.query<Seen>(SEEN)).rows
    const nodes = first?.hasNodes ? await askNodes(client, STANDBYS) : []
    const coordinator = { node: first?.hasNodes ? 'coordinator' : '', result: first?.standbys }
    return [coordinator, ...nodes].flatMap(({ node, result }) =>
      result ? describe(JSON.parse(result), node && `${node}: `) : [],
    )
  } finally {
    client.release()
  }
}

/** How many standbys a commit waits for: `FIRST 2 (a, b)`, `2 (a, b)`, or one of `a, b`. */
function countExpected(names: string): number {
  const [, count = '1'] = /^\s*(?:FIRST|ANY)?\s*(\d+)\s*\(/i.exec(names) ?? []
  return names === '' ? 0 : Number(count)
}

/** Of the primary or coordinator; undefined where it is not known. */
export async function measureStandbys(
  connections: Connections,
): Promise<StandbyMeasures | undefined> {
  const [{ standbys } = { standbys: null }] = (await connections.query<Seen>(SEEN)).rows
  if (standbys === null) return undefined
  const { names, connected, synchronous }: Standbys = JSON.parse(standbys)
  const expected = countExpected(names ?? '')
  return { expected, connected, synchronous: expected === 0 ? 0 : synchronous }
}
