import type { Pool } from 'pg'
import { type HealthCheck, healthChecksOf } from '../store/health-check.ts'
import { fixOfSetting } from './fix-of-setting.ts'

const about = healthChecksOf('standby')

/** The columns after `connected` are null for users without pg_read_all_stats. */
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

const LOSS = 'after a failover the last plants that were answered 200 may be missing'

function describeAsynchronous({ connected }: Standbys): HealthCheck {
  if (connected === 0) {
    return about.ok('none; plants are as safe as the disk of this one server, and its backups')
  }
  return about.warning(
    `${connected} connected, none of them synchronous: ${LOSS}`,
    "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'; SELECT pg_reload_conf()",
  )
}

async function describeSynchronous(
  pool: Pool,
  { names, waitsFor, ...found }: Standbys,
): Promise<HealthCheck> {
  if (waitsFor !== 'on' && waitsFor !== 'remote_apply') {
    return about.warning(
      `commits do not wait until a standby has them on disk (synchronous_commit = ${waitsFor}): ${LOSS}`,
      await fixOfSetting(pool, 'synchronous_commit', 'on'),
    )
  }
  const isAny = found.connected > 0 && (found.visible === 0 || found.synchronous > 0)
  if (isAny) {
    const shown = found.visible === 0 ? found.connected : found.synchronous
    return about.ok(`${shown} for synchronous_standby_names = ${names}; a failover loses no plant`)
  }
  return about.failure(
    `none of synchronous_standby_names = ${names} is connected: every create waits for one`,
    'start a standby of that name, and look into its log if it runs',
  )
}

/** What a failover would cost, by the settings and the standbys of this primary. */
export async function examineStandby(pool: Pool): Promise<HealthCheck[]> {
  const { rows } = await pool.query<Standbys>(STANDBYS)
  return Promise.all(
    rows.map((found) =>
      found.names ? describeSynchronous(pool, found) : describeAsynchronous(found),
    ),
  )
}
