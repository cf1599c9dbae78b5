import type { Migrated } from '../store/engine.ts'
import { readPostgresUrl } from './address.ts'
import { migratePostgres } from './migrations.ts'
import { describeOpenFailure } from './open-failure.ts'
import { type Database, openDatabase } from './pool.ts'

/** Brings a database to this program's schema; gives the versions before and after. `distributes` spreads its tables. */
export async function migratePostgresDatabase(
  databaseUrl: string,
  allowDataLoss: boolean,
  distributes = false,
): Promise<Migrated> {
  const address = readPostgresUrl(databaseUrl)
  let database: Database | undefined
  try {
    database = await openDatabase(address, { allowDataLoss, isPatient: true })
    const { pool, place, tables } = database
    return { ...(await migratePostgres(pool, place, tables, distributes)), place }
  } catch (error) {
    throw describeOpenFailure(error, address.place)
  } finally {
    await database?.pool.end()
  }
}
