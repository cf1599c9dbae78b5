import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { backUpStore } from '../../src/sqlite/backup.ts'
import { growLog, LOG_BYTES, LOG_LIMIT_BYTES } from '../../src/sqlite/connect.ts'
import { openDatabase } from '../../src/sqlite/open.ts'
import { preparePlantInsert } from '../../src/sqlite/plants.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { addPlants, makeStore } from '../commands/plants.ts'

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

test('a log that a long reader let grow is cut back by the next commits, not by each', async () => {
  const path = join(temporaryFolder(), 'plants.db')
  const store = await openSqliteStore({ path })
  const logBytes = () => statSync(`${path}-wal`).size
  let id = 0n
  const createMany = (count: number, name: string) =>
    Promise.all(Array.from({ length: count }, () => store.plants.create({ id: ++id, name })))
  await createMany(1, 'Fern')
  const reader = new DatabaseSync(path, { readOnly: true })
  reader.exec('BEGIN; SELECT count(*) FROM plants')
  const name = 'a long name '.repeat(400)
  while (logBytes() < 2 * LOG_LIMIT_BYTES) await createMany(200, name)
  await createMany(1, 'Fern')
  expect(logBytes()).toBeGreaterThan(2 * LOG_LIMIT_BYTES)
  reader.exec('COMMIT')
  reader.close()
  for (let commits = 0; commits < 4; commits++) await createMany(1, 'Fern')
  const sizeAfter = logBytes()
  expect(sizeAfter).toBe(LOG_LIMIT_BYTES)
  await createMany(2_000, 'Moss')
  expect(logBytes()).toBe(sizeAfter)
  await store.close()
})

test('what was written beside a backup is in the database when it ends', async () => {
  const path = join(temporaryFolder(), 'plants.db')
  let id = 0n
  const makePlants = () =>
    Array.from({ length: 2_000 }, () => ({ id: ++id, name: 'a long name '.repeat(400) }))
  await makeStore(path, makePlants())
  const sizeBefore = statSync(path).size
  const { signal } = new AbortController()
  const onProgress = () => addPlants(path, makePlants())
  const { plants } = await backUpStore(path, `${path}.copy`, { signal, onProgress })
  expect(plants).toBe(2_000)
  expect(id).toBeGreaterThan(2_000n)
  expect(statSync(path).size).toBeGreaterThan(sizeBefore + LOG_BYTES)
})
