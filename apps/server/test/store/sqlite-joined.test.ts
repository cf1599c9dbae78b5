import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MessageChannel } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import type { CommitEnd } from '../../src/sqlite/commit/commit-messages.ts'
import { joinSqliteStore } from '../../src/sqlite/join.ts'
import { openSqliteStore } from '../../src/sqlite/sqlite.ts'
import { OutcomeUnknownError, StoreUnavailableError } from '../../src/store/store.ts'
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

test('nobody knows what became of a plant whose thread of commits has gone', async () => {
  const opened = await openSqliteStore({
    path: join(temporaryFolder(), 'plants.db'),
    queueLimit: 1,
  })
  const share = opened.share().data as { readonly commits: CommitEnd }
  const { port1, port2 } = new MessageChannel()
  const commits = { port: port1, held: new Int32Array(new SharedArrayBuffer(4)) }
  const joined = await joinSqliteStore(
    { ...share, commits },
    { queueLimit: 1, allowDataLoss: false },
  )
  onTestFinished(async () => {
    await joined.close()
    share.commits.port.close()
    await opened.close()
  })
  port2.once('message', () => port2.close())
  await expect(joined.plants.create({ id: 1n, name: 'Fern' })).rejects.toThrow(OutcomeUnknownError)
})
