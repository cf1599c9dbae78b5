import { type PlantSnapshot, StoreRefusedError } from '../store/store.ts'
import { openPostgresSnapshot } from './postgres/snapshot.ts'
import { openSqliteSnapshot } from './sqlite/maintenance/snapshot.ts'

/** Opens a snapshot of the store that a database URL names. The scheme alone decides the engine. */
export async function openSnapshot(databaseUrl: string): Promise<PlantSnapshot> {
  const [scheme, path] = databaseUrl.split(/:(.*)/s)
  if (scheme === 'sqlite' && path) return openSqliteSnapshot(path)
  if (scheme === 'postgres' || scheme === 'postgresql') return openPostgresSnapshot(databaseUrl)
  throw new StoreRefusedError(`${scheme}: is no database that this program knows`)
}
