import type { PoolClient } from 'pg'
import type { Migrated } from '../store/engine.ts'
import { StoreRefusedError } from '../store/store.ts'
import { distributeTables } from './citus.ts'
import type { Connections } from './hosts.ts'
import { type Database, useDatabase } from './pool.ts'
import { inTransaction, saySchema, type Tables } from './tables.ts'

interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: (tables: Tables) => string
}

/** Every schema change, oldest first. Landed ones never change; a new one goes to the end. */
const migrations: readonly Migration[] = [
  {
    version: 1,
    name: 'plants',
    sql: (tables) => `
      CREATE TABLE ${tables.migrations}
        (version bigint PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL);
      CREATE TABLE ${tables.plants} (id bigint PRIMARY KEY, name text NOT NULL, tag text)`,
  },
  {
    version: 2,
    name: 'tokens',
    sql: ({ tokens }) => `CREATE TABLE ${tokens} (
      id text PRIMARY KEY,
      name text NOT NULL,
      secret_sha256 bytea NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint,
      revoked_at bigint,
      last_used_at bigint
    )`,
  },
  {
    version: 3,
    name: 'token rates',
    // Unlogged, so that a rate costs no sync of the disk; a crash of the database fills all rates.
    sql: ({ tokenRates }) => `CREATE UNLOGGED TABLE ${tokenRates} (
      token_sha256 bytea PRIMARY KEY,
      full_at_ns bigint NOT NULL,
      granted bigint NOT NULL
    )`,
  },
]

/** The schema version that this program writes and understands. */
export const NEWEST_VERSION = migrations.length

/** Any number that no other program in the same database locks: the letters PLNT. */
const LOCK = 0x504c4e54

const MADE = `SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = $1 AND relname IN ('migrations', 'plants') HAVING count(*) = 2`

/** The schema version of a database; 0 before the first migration. */
export async function schemaVersionOf(
  client: Pick<Connections, 'query'>,
  tables: Tables,
): Promise<number> {
  const made = await client.query(MADE, [tables.schema])
  if (made.rows.length === 0) return 0
  const { rows } = await client.query(`SELECT max(version) AS version FROM ${tables.migrations}`)
  return Number(rows[0]?.version ?? 0)
}

function refuseNewerSchema(version: number, place: string): void {
  if (version <= NEWEST_VERSION) return
  throw new StoreRefusedError(
    `${place} has schema version ${version}, newer than the ${NEWEST_VERSION} that this program knows`,
    { fix: 'start the newer program that wrote it' },
  )
}

/** @throws StoreRefusedError unless the schema is the one that this program writes. */
export async function refuseOtherSchema({ connections, tables, place }: Database): Promise<void> {
  const version = await schemaVersionOf(connections, tables)
  refuseNewerSchema(version, place)
  if (version === NEWEST_VERSION) return
  throw new StoreRefusedError(
    `${place} has schema version ${version} in ${tables.schema}, and this program needs ${NEWEST_VERSION}`,
    { code: 'not_migrated', fix: 'plant-store-server migrate' },
  )
}

/**
 * Whoever owns a schema may take its tables away and put others there.
 * @throws StoreRefusedError for a schema that was found by its name alone and is a stranger's
 */
function refuseForeignSchema({ schema, isTrusted }: Tables, place: string): void {
  if (isTrusted) return
  throw new StoreRefusedError(
    `${place} would keep its tables in the schema ${schema}, which belongs neither to this user ` +
      'nor to the owner of the database',
    { fix: `${saySchema(schema)} at the end of the URL, if it is meant` },
  )
}

/** Applies what is missing, one program at a time. */
async function migrate(client: PoolClient, { tables, place }: Database) {
  await client.query('SELECT pg_advisory_lock($1)', [LOCK])
  const before = await schemaVersionOf(client, tables)
  refuseNewerSchema(before, place)
  for (const { version, name, sql } of migrations.slice(before)) {
    await inTransaction(client, async () => {
      await client.query(sql(tables))
      await client.query(
        `INSERT INTO ${tables.migrations} (version, name, applied_at) VALUES ($1, $2, $3)`,
        [version, name, Date.now()],
      )
    })
  }
  return { before, after: NEWEST_VERSION, place }
}

/**
 * Brings a database to this program's schema; gives the versions before and after. `distributes`
 * spreads its tables over its nodes as well.
 */
export function migratePostgresDatabase(
  databaseUrl: string,
  allowDataLoss: boolean,
  distributes = false,
): Promise<Migrated> {
  const options = { allowDataLoss, isPatient: true }
  return useDatabase(databaseUrl, options, async (database) => {
    const { connections, place, tables } = database
    refuseForeignSchema(tables, place)
    const client = await connections.connect()
    try {
      const migrated = await migrate(client, database)
      if (!distributes) return migrated
      return { ...migrated, note: await distributeTables(client, place, tables) }
    } finally {
      // The lock goes with its connection.
      client.release(true)
      await connections.pool.end()
    }
  })
}
