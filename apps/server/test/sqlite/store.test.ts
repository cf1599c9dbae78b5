import { join } from 'node:path'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { describeStore } from '../store/store-suite.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { readPlants } from './sqlite-file.ts'

describeStore('SQLite', async () => {
  const path = join(temporaryFolder(), 'plants.db')
  return {
    open: async () => openSqliteStore({ path }),
    readPlants: async () => readPlants(path),
  }
})
