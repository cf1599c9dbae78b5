import type { Pool } from 'pg'
import { StoreRefusedError, StoreUnavailableError } from '../store/store.ts'
import { findMissingGrants } from './grants.ts'
import type { NodeWatch } from './node-watch.ts'
import { describeReason } from './open-failure.ts'
import type { Database } from './pool.ts'
import { findDeviations } from './shape.ts'

/** For tables that somebody changed. */
export const FIX_OF_SHAPE = 'undo it, or load an export into a new database'

/** @throws StoreRefusedError for tables under which 200 might not mean stored as sent. */
export async function refuseDeviations({ pool, tables, place }: Database): Promise<void> {
  const deviations = await findDeviations(pool, tables)
  if (deviations.length === 0) return
  throw new StoreRefusedError(
    `the tables of ${place} in the schema ${tables.schema} are not as the migrations make them: ` +
      `${deviations.join('; ')}. Try: ${FIX_OF_SHAPE}`,
  )
}

/**
 * Whether the server takes writes: after a failover the old primary may be a read-only standby. A
 * connection to one is let go, since the next one may lead elsewhere.
 */
export async function takesWrites(pool: Pool): Promise<boolean> {
  const client = await pool.connect()
  let takes = false
  try {
    const { rows } = await client.query('SHOW transaction_read_only')
    takes = rows[0]?.transaction_read_only === 'off'
    return takes
  } finally {
    client.release(!takes)
  }
}

async function findObstacle(database: Database, nodes: NodeWatch): Promise<string | undefined> {
  if (!(await takesWrites(database.pool))) return 'the database is read-only'
  await refuseDeviations(database)
  const missing = await findMissingGrants(database.pool, database.tables)
  const needed = missing.filter(({ without }) => without === undefined).map(({ sql }) => sql)
  if (needed.length === 0) return nodes.findObstacle()
  return `the database's user may not do all that a create needs. Try, as the owner of the tables: ${needed.join('; ')}`
}

/**
 * Proves that a create would be stored, as far as the catalogs show: three short queries that write
 * nothing.
 * @throws StoreUnavailableError with the reason, for operators
 */
export async function proveReady(database: Database, nodes: NodeWatch): Promise<void> {
  const obstacle = await findObstacle(database, nodes).catch((error) =>
    error instanceof StoreRefusedError ? error.message : describeReason(error),
  )
  if (obstacle === undefined) return
  throw new StoreUnavailableError(`the store is not ready: ${obstacle}`)
}
