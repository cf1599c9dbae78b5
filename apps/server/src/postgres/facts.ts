import type { Fact, MigrateOptions, StoreFacts } from '../store/engine.ts'
import { NEWEST_VERSION } from './migrations.ts'
import { openDatabase } from './pool.ts'
import { openPostgresStore } from './postgres.ts'
import { readPostgresUrl } from './url.ts'

/** Columns of a standby are null for users without pg_read_all_stats. No row on a standby. */
const STANDBYS = `SELECT current_setting('synchronous_standby_names', true) AS names,
    current_setting('synchronous_commit') AS "waitsFor",
    count(pid)::int AS connected, count(sync_state)::int AS visible,
    count(*) FILTER (WHERE sync_state IN ('sync', 'quorum'))::int AS synchronous
  FROM pg_stat_replication WHERE state IS DISTINCT FROM 'backup' HAVING NOT pg_is_in_recovery()`

interface Standbys {
  readonly names: string | null
  readonly waitsFor: string
  readonly connected: number
  readonly visible: number
  readonly synchronous: number
}

/** What a failover would cost, by the settings and the standbys of this primary. */
function describeStandbys({ names, waitsFor, connected, visible, synchronous }: Standbys): Fact {
  const name = 'standby'
  const loss = 'after a failover the last plants that were answered 200 may be missing'
  if (!names) {
    const value = `${connected} connected, none of them synchronous`
    const fix = "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'; SELECT pg_reload_conf()"
    return connected === 0 ? { name, value: 'none' } : { name, value, warning: loss, fix }
  }
  const shown = visible === 0 ? connected : synchronous
  const value = `${shown} for synchronous_standby_names = ${names}`
  if (shown === 0) {
    const fix = 'start a standby of that name, and look into its log if it runs'
    return { name, value, warning: 'every create waits for one', fix }
  }
  if (waitsFor === 'on' || waitsFor === 'remote_apply') return { name, value }
  return { name, value, warning: loss, fix: 'synchronous_commit = on' }
}

/**
 * What is worth knowing of a PostgreSQL store, which stays as it is.
 * @throws what keeps a server from opening it.
 */
export async function readPostgresFacts(
  databaseUrl: string,
  options: MigrateOptions,
): Promise<StoreFacts> {
  const store = await openPostgresStore({ ...options, databaseUrl })
  try {
    await store.isReady()
    const { connections } = await openDatabase(readPostgresUrl(databaseUrl), options)
    const found = connections.query<Standbys>(STANDBYS)
    const { rows } = await found.finally(() => connections.pool.end())
    const facts = [
      { name: 'store', value: store.description },
      { name: 'schema', value: `version ${NEWEST_VERSION}, the newest` },
      ...rows.map(describeStandbys),
    ]
    return { facts, tokens: await store.tokens.list() }
  } finally {
    await store.close()
  }
}
