import type { NewPlant } from '@plant-store/contract'
import type { MigrateOptions, OpenOptions, StoreFacts } from '../store/engine.ts'
import { GroupCommit } from '../store/group-commit.ts'
import type { StandbyMeasures } from '../store/observer.ts'
import { listColumns } from '../store/plant-columns.ts'
import {
  type CreateOutcome,
  createOutcomes,
  type OutcomeUnknownError,
  type Store,
  StoreUnavailableError,
} from '../store/store.ts'
import { createCommitWatch } from './commit-watch.ts'
import { explain } from './errors.ts'
import { NEWEST_VERSION, refuseOtherSchema } from './migrations.ts'
import { insertPlants } from './plants.ts'
import { type Database, useDatabase } from './pool.ts'
import { resolveOutcome, toStoreError } from './resolve.ts'
import { measureStandbys, readStandbyFacts } from './standbys.ts'
import { createPostgresTokenStore } from './tokens.ts'

export interface PostgresStoreOptions extends OpenOptions {
  readonly databaseUrl: string
}

/** Commits that run beside each other: while one waits for a slow disk, the next one is prepared. */
const COMMITS_IN_FLIGHT = 2

/** Longer than a commit on a fast disk takes; there a second one would cost a fifth of the rate. */
const BESIDE_AFTER_MS = 5

/** A database in which plants can be stored. */
function open(databaseUrl: string, options: OpenOptions) {
  return useDatabase(databaseUrl, options, async (database) => {
    await refuseOtherSchema(database)
    const { connections, tables, place } = database
    const { rows } = await connections.query<{ server: string; createdAt: number }>(
      `SELECT current_setting('server_version') AS server, applied_at::float8 AS "createdAt"
       FROM ${tables.migrations} WHERE version = 1`,
    )
    const { server, createdAt = Number.NaN } = rows[0] ?? {}
    return { ...database, createdAt, description: `PostgreSQL ${server} at ${place}` }
  })
}

/**
 * Proves that a create would be stored by one that stores nothing: its server takes writes, nobody
 * locks the table, and the user has the privileges on every column.
 * @throws StoreUnavailableError with the reason, for operators
 */
async function proveReady({ connections, tables: { plants } }: Database): Promise<void> {
  const text = `INSERT INTO ${plants} (${listColumns()})
    SELECT ${listColumns()} FROM ${plants} WHERE false`
  try {
    await connections.query({ name: 'prove-ready', text })
  } catch (cause) {
    const { detail, fix } = explain(cause)
    throw new StoreUnavailableError(`the store is not ready: ${detail}`, { cause, fix })
  }
}

async function countPlants({ connections, tables: { plants } }: Database, most: number) {
  const text = `SELECT count(*)::int AS count FROM (SELECT 1 FROM ${plants} LIMIT $1) AS first`
  try {
    return (await connections.query<{ count: number }>(text, [most])).rows[0]?.count ?? 0
  } catch (error) {
    throw toStoreError(error, false)
  }
}

/**
 * A store in a PostgreSQL database, which any number of servers may share.
 * A database that goes away makes it unavailable, never failed: it goes on when the database does.
 * @throws StoreRefusedError when the database must not be used, StoreUnavailableError when it
 * cannot be reached.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const database = await open(options.databaseUrl, options)
  const { connections, tables, description, createdAt } = database
  const watch = createCommitWatch(connections)
  let standbys: StandbyMeasures | undefined
  const commits = new GroupCommit<NewPlant, CreateOutcome>({
    outcomes: createOutcomes,
    observer: options.observer,
    commitsInFlight: COMMITS_IN_FLIGHT,
    besideAfterMs: BESIDE_AFTER_MS,
    commit: (plants, waitedMs) =>
      watch.watch(
        resolveOutcome(
          connections,
          (client, onStored) => insertPlants(client, tables, plants, onStored),
          waitedMs,
        ),
      ),
  })

  return {
    plants: { create: commits.add.bind(commits) },
    tokens: createPostgresTokenStore(connections, tables),
    description,
    failure: new Promise<OutcomeUnknownError>(() => {}),
    countPlants: (most) => countPlants(database, most),
    async isReady() {
      await proveReady(database)
      standbys = await measureStandbys(connections).catch(() => undefined)
      await watch.assert()
      return true
    },
    async measure() {
      const { options, totalCount: open, idleCount: idle, waitingCount: waiting } = connections.pool
      const pool = { limit: options.max, open, idle, waiting }
      return { waitingPlants: commits.waiting, createdAt, pool, standbys }
    },
    async close() {
      await commits.close()
      await connections.pool.end()
    },
  }
}

/**
 * What is worth knowing of a PostgreSQL store, which stays as it is.
 * @throws what keeps a server from opening it.
 */
export async function readPostgresFacts(
  databaseUrl: string,
  options: MigrateOptions,
): Promise<StoreFacts> {
  const database = await open(databaseUrl, options)
  const { connections, tables, description } = database
  try {
    await proveReady(database)
    const facts = [
      { name: 'store', value: description },
      { name: 'schema', value: `version ${NEWEST_VERSION}, the newest` },
      ...(await readStandbyFacts(connections)),
    ]
    return { facts, tokens: await createPostgresTokenStore(connections, tables).list() }
  } finally {
    await connections.pool.end()
  }
}
