import type { Pool, PoolClient } from 'pg'
import { StoreRefusedError } from '../store.ts'

interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

/** Every schema change, oldest first. Landed ones never change; a new one goes to the end. */
const migrations: readonly Migration[] = [
  {
    version: 1,
    name: 'plants',
    sql: 'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)',
  },
  {
    version: 2,
    name: 'tokens',
    sql: `CREATE TABLE tokens (
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
    sql: `CREATE UNLOGGED TABLE token_rates (
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

/** The schema version of a database; 0 before the first migration. */
export async function schemaVersionOf(client: Pool | PoolClient): Promise<number> {
  const { rows: tables } = await client.query(
    "SELECT 1 FROM information_schema.tables WHERE table_name = 'migrations' AND table_schema = current_schema()",
  )
  if (tables.length === 0) return 0
  const { rows } = await client.query('SELECT max(version) AS version FROM migrations')
  return Number(rows[0]?.version ?? 0)
}

function refuseNewerSchema(version: number, place: string): void {
  if (version <= NEWEST_VERSION) return
  throw new StoreRefusedError(
    `${place} has schema version ${version}, newer than the ${NEWEST_VERSION} that this program knows. ` +
      'Start the newer program that wrote it.',
  )
}

/** @throws StoreRefusedError unless the schema is the one that this program writes. */
export async function refuseOtherSchema(pool: Pool, place: string): Promise<void> {
  const version = await schemaVersionOf(pool)
  refuseNewerSchema(version, place)
  if (version === NEWEST_VERSION) return
  throw new StoreRefusedError(
    `${place} has schema version ${version} and this program needs ${NEWEST_VERSION}. ` +
      'Try: plant-store-server migrate',
  )
}

async function apply(client: PoolClient, { version, name, sql }: Migration): Promise<void> {
  await client.query('BEGIN')
  try {
    if (version === 1) {
      await client.query(
        'CREATE TABLE migrations (version bigint PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)',
      )
    }
    await client.query(sql)
    await client.query('INSERT INTO migrations (version, name, applied_at) VALUES ($1, $2, $3)', [
      version,
      name,
      Date.now(),
    ])
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Applies what is missing, one program at a time; gives the versions before and after. */
export async function migratePostgres(
  pool: Pool,
  place: string,
): Promise<{ readonly before: number; readonly after: number }> {
  const client = await pool.connect()
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK])
    const before = await schemaVersionOf(client)
    refuseNewerSchema(before, place)
    for (const migration of migrations)
      if (migration.version > before) await apply(client, migration)
    return { before, after: NEWEST_VERSION }
  } finally {
    // The lock goes with its connection.
    client.release(true)
  }
}
