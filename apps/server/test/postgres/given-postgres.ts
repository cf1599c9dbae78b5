import { randomBytes } from 'node:crypto'
import { migratePostgresDatabase } from '../../src/postgres/migrate.ts'
import { type PostgresServer, query } from './postgres-server.ts'

/** What the tests need of a server: somebody else's has nothing more. */
export type GivenPostgres = Pick<PostgresServer, 'createDatabase' | 'query' | 'stop'>

/** A database of a server that runs anyway, over which the tests are to run instead of their own. */
export const givenUrl = process.env.PLANT_STORE_TEST_POSTGRES_URL

/**
 * Takes a schema of a given database for each database that a test asks for: in a new database of
 * Citus there would be no nodes.
 */
export function openGiven(url: string): GivenPostgres {
  const schemas: string[] = []
  return {
    query,
    async createDatabase() {
      const schema = `test_${randomBytes(6).toString('hex')}`
      await query(url, `CREATE SCHEMA ${schema}`)
      schemas.push(schema)
      const mark = url.includes('?') ? '&' : '?'
      return `${url}${mark}options=-c%20search_path%3D${schema}`
    },
    async stop() {
      for (const schema of schemas) await query(url, `DROP SCHEMA ${schema} CASCADE`)
    },
  }
}

/** Whether a database takes the command to spread tables over nodes. */
export async function isSpreadable(databaseUrl: string): Promise<boolean> {
  const text = "SELECT FROM pg_proc WHERE proname = 'create_distributed_table'"
  return (await query(databaseUrl, text)).length > 0
}

/** Brings a database of a test to the schema, over all nodes where it has some. */
export async function migrateTestDatabase(databaseUrl: string): Promise<void> {
  const isSpread = givenUrl !== undefined && (await isSpreadable(databaseUrl))
  await migratePostgresDatabase(databaseUrl, false, isSpread)
}
