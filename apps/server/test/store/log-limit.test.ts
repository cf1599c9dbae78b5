import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { LOG_LIMIT_BYTES } from '../../src/sqlite/connect.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../temporary-folder.ts'

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
