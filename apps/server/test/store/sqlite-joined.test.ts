import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { joinSqliteStore } from '../../src/engines/sqlite/join.ts'
import { openSqliteStore } from '../../src/engines/sqlite/sqlite.ts'
import { StoreUnavailableError } from '../../src/store/store.ts'
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

test('a store that was joined tells the opened one that a commit stored nothing', async () => {
  const path = join(temporaryFolder(), 'plants.db')
  const opened = await openSqliteStore({ path, queueLimit: 10 })
  const options = { queueLimit: 10, allowDataLoss: false }
  const joined = await joinSqliteStore(opened.share().data, options)
  onTestFinished(async () => {
    await joined.close()
    await opened.close()
  })
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  const refused = joined.plants.create({ id: 1n, name: 'Fern' })
  await expect(refused).rejects.toThrow(StoreUnavailableError)
  // It tries a commit of its own, because it was told.
  for (const store of [joined, opened]) {
    await expect(store.isReady()).rejects.toThrow(/not ready/)
  }
  other.exec('ROLLBACK')
  other.close()
  expect(await joined.isReady()).toBe(true)
  expect(await joined.plants.create({ id: 1n, name: 'Fern' })).toBe('created')
})
