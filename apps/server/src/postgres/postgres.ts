import type { NewPlant } from '@plant-store/contract'
import type { Pool } from 'pg'
import { GroupCommit } from '../store/group-commit.ts'
import type { StoreObserver } from '../store/observer.ts'
import {
  type CreateOutcome,
  isCreateOutcome,
  type OutcomeUnknownError,
  type Store,
} from '../store/store.ts'
import { type PostgresAddress, readPostgresUrl } from './address.ts'
import { refuseOtherSchema } from './migrations.ts'
import { type NodeWatch, watchNodes } from './node-watch.ts'
import { describeOpenFailure } from './open-failure.ts'
import { insertPlants } from './plants.ts'
import { type Database, measurePool, openDatabase } from './pool.ts'
import { proveReady, refuseDeviations } from './readiness.ts'
import { resolveOutcome, toStoreError } from './resolve.ts'
import { createPostgresTokenStore } from './tokens.ts'

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

async function describe(pool: Pool, place: string): Promise<string> {
  const { rows } = await pool.query("SELECT current_setting('server_version') AS version")
  return `PostgreSQL ${rows[0]?.version} at ${place}`
}

async function open(address: PostgresAddress, allowDataLoss: boolean) {
  let database: Database | undefined
  try {
    database = await openDatabase(address, { allowDataLoss })
    const { pool, place, tables } = database
    await refuseOtherSchema(pool, place, tables)
    await refuseDeviations(database)
    const nodes = await watchNodes(database, allowDataLoss)
    return { database, nodes, description: await describe(pool, place) }
  } catch (error) {
    await database?.pool.end()
    throw describeOpenFailure(error, address.place)
  }
}

/** Commits of plants, each of which is tried while the nodes can be trusted. */
function groupCommits(
  { pool, tables }: Database,
  nodes: NodeWatch,
  { observer }: PostgresStoreOptions,
): GroupCommit<NewPlant, CreateOutcome> {
  return new GroupCommit({
    isOutcome: isCreateOutcome,
    observer,
    commitsInFlight: COMMITS_IN_FLIGHT,
    besideAfterMs: BESIDE_AFTER_MS,
    commit: (plants, waitedMs) =>
      resolveOutcome(
        pool,
        (client, onStored) => nodes.guard(() => insertPlants(client, tables, plants, onStored)),
        waitedMs,
      ),
  })
}

/**
 * A store in a PostgreSQL database, which any number of servers may share.
 * A database that goes away makes it unavailable, never failed: it goes on when the database does.
 * @throws StoreRefusedError when the database must not be used, StoreUnavailableError when it
 * cannot be reached.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const address = readPostgresUrl(options.databaseUrl)
  const { database, nodes, description } = await open(address, options.allowDataLoss)
  const { pool, tables } = database
  const commits = groupCommits(database, nodes, options)

  return {
    plants: { create: (plant, timing) => commits.add(plant, timing) },
    tokens: createPostgresTokenStore(pool, tables),
    description,
    failure: new Promise<OutcomeUnknownError>(() => {}),
    async isEmpty() {
      try {
        const { rows } = await pool.query(`SELECT id FROM ${tables.plants} LIMIT 1`)
        return rows.length === 0
      } catch (error) {
        throw toStoreError(error, false)
      }
    },
    async isReady() {
      await proveReady(database, nodes)
      return true
    },
    measure: async () => ({
      waitingPlants: commits.waiting,
      pool: measurePool(pool),
    }),
    async close() {
      await commits.close()
      nodes.close()
      await pool.end()
    },
  }
}
