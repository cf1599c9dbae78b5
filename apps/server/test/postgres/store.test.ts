import { afterAll, beforeAll } from 'vitest'
import { migratePostgresDatabase } from '../../src/engines/postgres/migrate.ts'
import { openPostgresStore } from '../../src/engines/postgres/postgres.ts'
import { describeStore } from '../store/store-suite.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

let postgres: PostgresServer

beforeAll(async () => {
  postgres = await startPostgres()
}, 60_000)
afterAll(() => postgres?.stop())

describeStore('PostgreSQL', async () => {
  const databaseUrl = await postgres.createDatabase()
  await migratePostgresDatabase(databaseUrl, false)
  return {
    open: ({ queueLimit = 8192 } = {}) =>
      openPostgresStore({ databaseUrl, queueLimit, allowDataLoss: false }),
    async readPlants() {
      const rows = await postgres.query(databaseUrl, 'SELECT id, name, tag FROM plants ORDER BY id')
      return rows.map(({ id, name, tag }) => ({
        id: BigInt(String(id)),
        name: String(name),
        tag: tag as string | null,
      }))
    },
  }
})
