import { readPostgresUrl } from './address.ts'
import { migratePostgres } from './migrations.ts'
import { openPool } from './pool.ts'
import { describeUnusable } from './unusable.ts'

/** Brings a database to this program's schema; gives the versions before and after. */
export async function migratePostgresDatabase(
  databaseUrl: string,
  allowDataLoss: boolean,
): Promise<{ readonly before: number; readonly after: number; readonly place: string }> {
  const address = readPostgresUrl(databaseUrl)
  const pool = openPool({ address, allowDataLoss, isPatient: true })
  try {
    return { ...(await migratePostgres(pool, address.place)), place: address.place }
  } catch (error) {
    throw describeUnusable(error, address.place)
  } finally {
    await pool.end()
  }
}
