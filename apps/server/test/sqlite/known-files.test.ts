import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { createFilesCheck, knowFiles } from '../../src/sqlite/known-files.ts'

/** Until the time of a folder's last change is old enough to show the next one. */
const QUIET_MS = 2_100

function arrange() {
  const folder = join(temporaryFolder(), 'data')
  mkdirSync(folder)
  const path = join(folder, 'plants.db')
  for (const file of [path, `${path}-wal`]) writeFileSync(file, 'bytes')
  return { folder, path, check: createFilesCheck(knowFiles(path)) }
}

function replace(path: string): void {
  writeFileSync(`${path}.other`, 'bytes')
  renameSync(`${path}.other`, path)
}

const changes: [string, string, (path: string) => void][] = [
  ['the database is deleted', 'plants.db was deleted or moved', (path) => rmSync(path)],
  ['the log is deleted', 'plants.db-wal was deleted or moved', (path) => rmSync(`${path}-wal`)],
  ['the database is replaced', 'plants.db was replaced', replace],
  ['the log is replaced', 'plants.db-wal was replaced', (path) => replace(`${path}-wal`)],
  [
    'its folder is moved',
    'plants.db was deleted or moved',
    (path) => renameSync(join(path, '..'), join(path, '../../other')),
  ],
  [
    'its folder is replaced',
    'plants.db was replaced',
    (path) => {
      const folder = join(path, '..')
      renameSync(folder, `${folder}.old`)
      mkdirSync(folder)
      for (const file of [path, `${path}-wal`]) writeFileSync(file, 'bytes')
    },
  ],
]

test('the next check says any of it in a folder that was quiet', async () => {
  const stores = changes.map((change) => ({ ...arrange(), change }))
  await sleep(QUIET_MS)
  for (const { path, check, change } of stores) {
    const [, problem, make] = change
    check()
    check()
    make(path)
    expect(check).toThrow(problem)
    expect(check).toThrow(problem)
  }
})

test('other files may come and go', async () => {
  const { folder, check } = arrange()
  await sleep(QUIET_MS)
  check()
  writeFileSync(join(folder, 'backup.db'), 'bytes')
  check()
  rmSync(join(folder, 'backup.db'))
  check()
})

test.each([
  ['was just changed is not believed', 0],
  ['was quiet is believed for a second', QUIET_MS],
])('a folder that %s', async (_what, quietMs) => {
  // A database elsewhere, so that its folder shows no change.
  const elsewhere = join(temporaryFolder(), 'plants.db')
  const path = join(temporaryFolder(), 'plants.db')
  writeFileSync(elsewhere, 'bytes')
  symlinkSync(elsewhere, path)
  const check = createFilesCheck(knowFiles(path))
  await sleep(quietMs)
  check()
  replace(elsewhere)
  if (quietMs > 0) {
    check()
    await sleep(1_100)
  }
  expect(check).toThrow('plants.db was replaced')
})
