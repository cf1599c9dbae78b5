import type { Pool } from 'pg'
import { type HealthCheck, healthChecksOf } from '../store/health-check.ts'
import { fixOfSetting } from './fix-of-setting.ts'
import { findMissingGrants } from './grants.ts'
import type { Database } from './pool.ts'
import { takesWrites } from './readiness.ts'

const about = healthChecksOf('writes')

async function describeReadOnly(pool: Pool): Promise<HealthCheck> {
  const { rows } = await pool.query('SELECT pg_is_in_recovery() AS "isStandby"')
  if (rows[0]?.isStandby) {
    const fix = `the primary's address in PLANT_STORE_DATABASE_URL; if the primary is gone for good, SELECT pg_promote() here`
    return about.failure('this server is a standby, which takes none', fix)
  }
  const name = 'default_transaction_read_only'
  const fix = await fixOfSetting(pool, name, 'off')
  // Its own sessions are read-only as well.
  const statements = fix.startsWith('ALTER') ? `SET ${name} = off; ${fix}` : fix
  return about.failure(`${name} is on, so no plant is stored`, statements)
}

/** Whether this user can write here; the grants only where the schema is the newest. */
export async function examineWrites(
  { pool, tables }: Database,
  isNewest: boolean,
): Promise<HealthCheck[]> {
  if (!(await takesWrites(pool))) return [await describeReadOnly(pool)]
  if (!isNewest) return []
  const missing = await findMissingGrants(pool, tables)
  if (missing.length === 0) return [about.ok('taken; the user may do all that serving needs')]
  return missing.map(({ sql, without }) =>
    without === undefined
      ? about.failure('the user lacks a privilege that creates need', sql)
      : about.warning(`the user lacks a privilege, so ${without}`, sql),
  )
}
