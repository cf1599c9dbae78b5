import { readPostgresUrl } from '@plant-store/server/store/postgres/address.js'
import { insertPlants } from '@plant-store/server/store/postgres/plants.js'
import { openPool } from '@plant-store/server/store/postgres/pool.js'
import { settle } from '@plant-store/server/store/postgres/settle.js'
import type { CommitInTime } from './commit.ts'

/** Commits as the server's PostgreSQL store does, for as many callers at once as there are. */
export function openPostgresCommit(databaseUrl: string): CommitInTime {
  const pool = openPool({ address: readPostgresUrl(databaseUrl), allowDataLoss: false })
  return (plants, waitedMs) =>
    settle(pool, (client, onStored) => insertPlants(client, plants, onStored), waitedMs)
}
