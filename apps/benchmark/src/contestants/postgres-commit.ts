import { readPostgresUrl } from '@plant-store/server/engines/postgres/address.js'
import { insertPlants } from '@plant-store/server/engines/postgres/plants.js'
import { openDatabase } from '@plant-store/server/engines/postgres/pool.js'
import { resolveOutcome } from '@plant-store/server/engines/postgres/resolve.js'
import type { CommitInTime } from './commit.ts'

/** Commits as the server's PostgreSQL store does, for as many callers at once as there are. */
export function openPostgresCommit(databaseUrl: string): CommitInTime {
  const opened = openDatabase(readPostgresUrl(databaseUrl), { allowDataLoss: false })
  return async (plants, waitedMs) => {
    const { pool, tables } = await opened
    return resolveOutcome(
      pool,
      (client, onStored) => insertPlants(client, tables, plants, onStored),
      waitedMs,
    )
  }
}
