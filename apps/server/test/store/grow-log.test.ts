import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { growLog } from '../../src/sqlite/connect.ts'
import { openDatabase } from '../../src/sqlite/open.ts'
import { preparePlantInsert } from '../../src/sqlite/plants.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const LOG_BYTES = 4_096_000

async function openFresh() {
  const path = `${temporaryFolder()}/plants.db`
  const database = await openDatabase(path)
  const tables = () => database.prepare('SELECT name FROM sqlite_schema').all()
  return { database, tables, logBytes: () => statSync(`${path}-wal`).size }
}

test('the log has its usual size at once, and commits write within it', async () => {
  const { database, tables, logBytes } = await openFresh()
  const before = tables()
  growLog(database)
  const size = logBytes()
  expect(size).toBeGreaterThanOrEqual(LOG_BYTES)
  preparePlantInsert(database)([{ id: 1n, name: 'Fern' }])
  expect(logBytes()).toBe(size)
  expect(tables()).toEqual(before)
  database.close()
})

test('where there is no room for it, the store works as before', async () => {
  const { database, tables } = await openFresh()
  const before = tables()
  database.exec('PRAGMA max_page_count = 20')
  growLog(database)
  expect(database.isTransaction).toBe(false)
  expect(preparePlantInsert(database)([{ id: 1n, name: 'Fern' }])).toEqual(['created'])
  expect(tables()).toEqual(before)
  database.close()
})
