import { openPostgresStore } from '../../src/postgres/store.ts'
import { describeStore } from '../store/store-suite.ts'
import { newDatabase, usePostgres } from './use-postgres.ts'

const postgres = usePostgres()

describeStore('PostgreSQL', async () => {
  const databaseUrl = await newDatabase(postgres)
  return {
    open: () => openPostgresStore({ databaseUrl, allowDataLoss: false }),
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
