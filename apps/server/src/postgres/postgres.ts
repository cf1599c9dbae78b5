import type { NewPlant } from '@plant-store/contract'
import { GroupCommit } from '../store/group-commit.ts'
import type { StoreObserver } from '../store/observer.ts'
import {
  type CreateOutcome,
  isCreateOutcome,
  type OutcomeUnknownError,
  type Store,
} from '../store/store.ts'
import { toOpenError } from './errors.ts'
import { refuseOtherSchema } from './migrations.ts'
import { insertPlants } from './plants.ts'
import { type Database, measurePool, openDatabase } from './pool.ts'
import { proveReady } from './ready.ts'
import { resolveOutcome, toStoreError } from './resolve.ts'
import { createPostgresTokenStore } from './tokens.ts'
import { readPostgresUrl } from './url.ts'

export interface PostgresStoreOptions {
  readonly databaseUrl: string
  /** Accepts a server that could lose a commit after its 200. */
  readonly allowDataLoss: boolean
  readonly observer?: StoreObserver | undefined
}

/** Commits that run beside each other: while one waits for a slow disk, the next one is prepared. */
const COMMITS_IN_FLIGHT = 2

/** Longer than a commit on a fast disk takes; there a second one would cost a fifth of the rate. */
const BESIDE_AFTER_MS = 5

async function open(databaseUrl: string, allowDataLoss: boolean) {
  const address = readPostgresUrl(databaseUrl)
  let database: Database | undefined
  try {
    database = await openDatabase(address, { allowDataLoss })
    const { connections, place } = database
    await refuseOtherSchema(database)
    const version = "SELECT current_setting('server_version') AS version"
    const { rows } = await connections.query<{ version: string }>(version)
    return { ...database, description: `PostgreSQL ${rows[0]?.version} at ${place}` }
  } catch (error) {
    await database?.connections.pool.end()
    throw toOpenError(error, address.place)
  }
}

/**
 * A store in a PostgreSQL database, which any number of servers may share.
 * A database that goes away makes it unavailable, never failed: it goes on when the database does.
 * @throws StoreRefusedError when the database must not be used, StoreUnavailableError when it
 * cannot be reached.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const database = await open(options.databaseUrl, options.allowDataLoss)
  const { connections, tables, description } = database
  const commits = new GroupCommit<NewPlant, CreateOutcome>({
    isOutcome: isCreateOutcome,
    observer: options.observer,
    commitsInFlight: COMMITS_IN_FLIGHT,
    besideAfterMs: BESIDE_AFTER_MS,
    commit: (plants, waitedMs) =>
      resolveOutcome(
        connections,
        (client, onStored) => insertPlants(client, tables, plants, onStored),
        waitedMs,
      ),
  })

  return {
    plants: { create: (plant, timing) => commits.add(plant, timing) },
    tokens: createPostgresTokenStore(connections, tables),
    description,
    failure: new Promise<OutcomeUnknownError>(() => {}),
    async isEmpty() {
      try {
        const { rows } = await connections.query(`SELECT id FROM ${tables.plants} LIMIT 1`)
        return rows.length === 0
      } catch (error) {
        throw toStoreError(error, false)
      }
    },
    async isReady() {
      await proveReady(database)
      return true
    },
    measure: async () => ({
      waitingPlants: commits.waiting,
      pool: measurePool(connections),
    }),
    async close() {
      await commits.close()
      await connections.pool.end()
    },
  }
}
