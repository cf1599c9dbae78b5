import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { StoreRefusedError } from '../../src/store/store.ts'
import { temporaryFolder } from '../temporary-folder.ts'

function newPath(): string {
  return join(temporaryFolder(), 'plants.db')
}

function open(path: string) {
  return openSqliteStore({ path })
}

async function makeStore(path: string, plants: number): Promise<void> {
  const store = await open(path)
  const name = 'a name that fills the page '.repeat(8)
  const ids = Array.from({ length: plants }, (_, id) => BigInt(id))
  for (const id of ids) await store.plants.create({ id, name })
  await store.close()
}

/** Every file of a folder with its bytes, but for the -shm file, which is only a cache. */
function contentsOf(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => !name.endsWith('-shm'))
  return Object.fromEntries(
    names
      .map((name) => [name, readFileSync(join(folder, name), 'base64')] as const)
      .filter(([name, bytes]) => !name.endsWith('-wal') || bytes !== ''),
  )
}

async function expectRefusal(path: string, message: RegExp): Promise<void> {
  const folder = join(path, '..')
  const before = contentsOf(folder)
  await expect(open(path)).rejects.toThrow(StoreRefusedError)
  await expect(open(path)).rejects.toThrow(message)
  expect(contentsOf(folder)).toEqual(before)
}

describe('a file that must not be used is refused and left as it was', () => {
  test('a database of another program', async () => {
    const path = newPath()
    const foreign = new DatabaseSync(path)
    foreign.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT)')
    foreign.close()
    await expectRefusal(path, /is a database of another program/)
  })

  test('a schema that is newer than the program', async () => {
    const path = newPath()
    await makeStore(path, 1)
    const newer = new DatabaseSync(path)
    newer.exec("INSERT INTO migrations VALUES (99, 'from the future', 0)")
    newer.close()
    await expectRefusal(path, /schema version 99, newer than/)
  })

  test('a damaged first page', async () => {
    const path = newPath()
    await makeStore(path, 200)
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0xff, 100, 4_096))
    await expectRefusal(path, /plants\.db is corrupt/)
  })

  test.each([
    ['missing', undefined],
    ['empty', ''],
  ])('a write-ahead log beside a database that is %s', async (state, content) => {
    const path = newPath()
    if (content !== undefined) writeFileSync(path, content)
    writeFileSync(`${path}-wal`, 'plants that were answered 200')
    await expectRefusal(path, new RegExp(`is ${state} but .*-wal is not`))
  })
})

describe('a file that may be used', () => {
  test('is made with its folders', async () => {
    const path = join(temporaryFolder(), 'a/b/plants.db')
    await (await open(path)).close()
    expect(statSync(path).size).toBeGreaterThan(0)
  })

  test('is completed when its making was interrupted', async () => {
    const path = newPath()
    const interrupted = new DatabaseSync(path)
    interrupted.exec('PRAGMA journal_mode = wal')
    interrupted.close()
    const store = await open(path)
    expect(await store.plants.create({ id: 1n, name: 'Fern' })).toBe('created')
    await store.close()
  })

  test('says which engine and settings stand behind 200', async () => {
    const store = await open(newPath())
    expect(store.description).toMatch(/^SQLite 3\.\d+\.\d+ in .*plants\.db, .*synchronous=FULL$/)
    await store.close()
  })

  test('that another process writes to is waited for, not failed', async () => {
    const path = newPath()
    const store = await open(path)
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    const outcome = store.plants.create({ id: 1n, name: 'Fern' })
    await new Promise((resolve) => setTimeout(resolve, 50))
    other.exec('COMMIT')
    other.close()
    expect(await outcome).toBe('created')
    await store.close()
  })
})
