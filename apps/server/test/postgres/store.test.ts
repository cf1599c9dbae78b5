import { openPostgresStore } from '../../src/postgres/store.ts'
import { describeStore } from '../store/store-suite.ts'
import { readRows } from './served-database.ts'
import { newDatabase, usePostgres } from './use-postgres.ts'

const postgres = usePostgres()

describeStore('PostgreSQL', async () => {
  const databaseUrl = await newDatabase(postgres)
  return {
    open: () => openPostgresStore({ databaseUrl, allowDataLoss: false }),
    async readPlants() {
      const plants = (await readRows(databaseUrl)).map((row) => ({ ...row, id: BigInt(row.id) }))
      return plants.sort((one, other) => (one.id < other.id ? -1 : 1))
    },
  }
})
