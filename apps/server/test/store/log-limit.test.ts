import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { LOG_LIMIT_BYTES } from '../../src/sqlite/database/durable.ts'
import { backUpStore } from '../../src/sqlite/maintenance/backup.ts'
import { openSqliteStore } from '../../src/sqlite/sqlite.ts'
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

test('a backup lets the log be used again as soon as it has copied it', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'plants.db')
  const store = await openSqliteStore({ path })
  const plants = Array.from({ length: 3_000 }, (_, id) => ({ id: BigInt(id), name: 'Fern' }))
  await Promise.all(plants.map((plant) => store.plants.create(plant)))
  const other = new DatabaseSync(path)
  let isWritten = false
  const uncopied: number[] = []
  await backUpStore(path, join(folder, 'backup.db'), {
    makesFolder: false,
    signal: new AbortController().signal,
    onProgress() {
      if (!isWritten) other.exec("INSERT INTO plants VALUES (-1, 'Moss', NULL)")
      isWritten = true
      const { log, checkpointed } = other.prepare('PRAGMA wal_checkpoint').get() ?? {}
      uncopied.push(Number(log) - Number(checkpointed))
    },
  })
  other.close()
  expect(uncopied[0]).toBeGreaterThan(0)
  expect(uncopied.at(-1)).toBe(0)
  await store.close()
})
