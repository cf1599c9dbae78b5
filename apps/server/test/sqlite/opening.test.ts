import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/sqlite/open.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { StoreRefusedError } from '../../src/store/store.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const PAGE_BYTES = 4_096

/** Makes a store with plants from 1 up, past the program because that is quick. */
async function makeStore(plants: number): Promise<string> {
  const path = newPath()
  const database = await openDatabase(path)
  addPlants(database, 1, plants)
  database.close()
  return path
}

function addPlants(database: DatabaseSync, from: number, to: number): void {
  database.exec(`WITH RECURSIVE ids (id) AS (SELECT ${from} UNION ALL SELECT id + 1 FROM ids WHERE id < ${to})
    INSERT INTO plants (id, name) SELECT id, 'a name of some length ' || id FROM ids`)
}

/** Copies a store with its log as a kill would leave them. */
function copyAsKilled(path: string): string {
  const copy = join(temporaryFolder(), 'plants.db')
  for (const end of ['', '-wal']) copyFileSync(path + end, copy + end)
  return copy
}

/** Bytes that a process of its own reads, through any cache, to open a store and close it. */
async function bytesReadToOpen(path: string): Promise<number> {
  const module = new URL('../../dist/sqlite/store.js', import.meta.url)
  const script = `
    const { openSqliteStore } = await import(${JSON.stringify(module.href)})
    const { readFileSync } = await import('node:fs')
    const read = () => Number(/rchar: (\\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))[1])
    const before = read()
    const store = await openSqliteStore({ path: ${JSON.stringify(path)} })
    await store.isEmpty()
    await store.isReady()
    console.log(read() - before)
    await store.close()`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script])
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text))
  expect(await once(child, 'close')).toEqual([0, null])
  return Number(out)
}

describe.skipIf(process.platform !== 'linux')('opening a store', () => {
  test('reads no more of a large one than of a small one', async () => {
    const [small, large] = [await makeStore(20_000), await makeStore(200_000)]
    expect(statSync(large).size).toBeGreaterThan(8 * statSync(small).size)
    const [ofSmall, ofLarge] = [await bytesReadToOpen(small), await bytesReadToOpen(large)]
    expect(ofSmall).toBeGreaterThan(0)
    expect(ofLarge - ofSmall).toBeLessThan(16 * PAGE_BYTES)
    expect(ofLarge).toBeLessThan(statSync(small).size / 4)
  })

  test('after a kill reads the log beyond that, and no more', async () => {
    const read = await Promise.all(
      [20_000, 200_000].map(async (plants) => {
        const path = await makeStore(plants)
        const database = await openDatabase(path)
        addPlants(database, plants + 1, plants + 1_000)
        const killed = copyAsKilled(path)
        database.close()
        return bytesReadToOpen(killed)
      }),
    )
    const [ofSmall = 0, ofLarge = 0] = read
    expect(ofLarge - ofSmall).toBeLessThan(16 * PAGE_BYTES)
  })
})

describe('a file that lacks pages is refused at once', () => {
  const message = /plants\.db is corrupt \(.*\)$/

  test.each([
    ['its second half', (size: number) => size / 2],
    ['its last page', (size: number) => size - PAGE_BYTES],
    ['its last byte', (size: number) => size - 1],
  ])('that is %s', async (_what, sizeAfter) => {
    const path = await makeStore(2_000)
    truncateSync(path, sizeAfter(statSync(path).size))
    const before = readFileSync(path)
    await expect(openDatabase(path)).rejects.toThrow(StoreRefusedError)
    await expect(openDatabase(path)).rejects.toThrow(message)
    expect(readFileSync(path)).toEqual(before)
  })
})

test('a page that is damaged deep in the file stops no start', async () => {
  const path = await makeStore(2_000)
  const bytes = readFileSync(path)
  writeFileSync(
    path,
    bytes.fill(0xff, bytes.length - 4 * PAGE_BYTES, bytes.length - 3 * PAGE_BYTES),
  )
  const database = await openDatabase(path)
  database.close()
})

function newPath(): string {
  return join(temporaryFolder(), 'plants.db')
}

function open(path: string) {
  return openSqliteStore({ path })
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
    const path = await makeStore(1)
    const newer = new DatabaseSync(path)
    newer.exec("INSERT INTO migrations VALUES (99, 'from the future', 0)")
    newer.close()
    await expectRefusal(path, /schema version 99, newer than/)
  })

  test('a damaged first page', async () => {
    const path = await makeStore(200)
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
