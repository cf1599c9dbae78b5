import { join } from 'node:path'
import { joinSqliteStore } from '../../src/engines/sqlite/join.ts'
import { openSqliteStore } from '../../src/engines/sqlite/sqlite.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { readPlants } from './sqlite-file.ts'
import { describeStore } from './store-suite.ts'

describeStore('a SQLite store that was joined', async () => {
  const path = join(temporaryFolder(), 'plants.db')
  return {
    async open({ queueLimit = 8192 } = {}) {
      const opened = await openSqliteStore({ path, queueLimit })
      const joined = await joinSqliteStore(opened.share().data, {
        queueLimit,
        allowDataLoss: false,
      })
      const close = async () => {
        await joined.close()
        await opened.close()
      }
      return { ...joined, share: opened.share, close }
    },
    readPlants: async () => readPlants(path),
  }
})
