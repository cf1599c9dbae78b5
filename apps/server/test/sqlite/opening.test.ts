import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { openDatabase } from '../../src/sqlite/open.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { StoreRefusedError } from '../../src/store/store.ts'
import { addPlants, execute } from '../commands/plants.ts'
import { arrange } from '../commands/program.ts'

const PAGE_BYTES = 4_096

function newPath(): string {
  return join(temporaryFolder(), 'plants.db')
}

function open(path: string) {
  return openSqliteStore({ path })
}

/** Copies a store with its log as a kill would leave them. */
function copyAsKilled(path: string): string {
  const copy = join(temporaryFolder(), 'plants.db')
  for (const end of ['', '-wal']) copyFileSync(path + end, copy + end)
  return copy
}

/** Bytes that a process of its own reads, through any cache, to open a store and close it. */
function bytesReadToOpen(path: string): number {
  const module = new URL('../../dist/sqlite/store.js', import.meta.url)
  const script = `
    const { openSqliteStore } = await import(${JSON.stringify(module.href)})
    const { readFileSync } = await import('node:fs')
    const read = () => Number(/rchar: (\\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))[1])
    const before = read()
    const store = await openSqliteStore({ path: ${JSON.stringify(path)} })
    await store.countPlants(1)
    await store.isReady()
    console.log(read() - before)
    await store.close()`
  const flags = ['--input-type=module', '--eval', script]
  return Number(execFileSync(process.execPath, flags, { encoding: 'utf8' }))
}

/** Of which most share a page. */
const neighbours = Array.from({ length: 1_000 }, (_, id) => ({ id: BigInt(id), name: 'Fern' }))

describe.skipIf(process.platform !== 'linux')('opening a store', () => {
  test.each([
    ['that was closed', false],
    ['that was killed, but for its log', true],
  ])('%s reads no more of a large one than of a small one', async (_how, isKilled) => {
    const read = async (plants: number) => {
      const { path } = await arrange(plants)
      if (!isKilled) return bytesReadToOpen(path)
      const database = await openDatabase(path)
      addPlants(path, neighbours)
      const killed = copyAsKilled(path)
      database.close()
      return bytesReadToOpen(killed)
    }
    const [ofSmall, ofLarge] = [await read(5_000), await read(50_000)]
    expect(ofSmall).toBeGreaterThan(0)
    // Though it has ten times as many plants.
    expect(ofLarge - ofSmall).toBeLessThan(16 * PAGE_BYTES)
  })
})

/** Every file of a folder with its bytes, but for the -shm file, which is only a cache. */
function contentsOf(folder: string): Record<string, string> {
  const contents = readdirSync(folder).map((name) => [
    name,
    name.endsWith('-shm') ? '' : readFileSync(join(folder, name), 'base64'),
  ])
  return Object.fromEntries(
    contents.filter(([name, bytes]) => bytes !== '' || name === 'plants.db'),
  )
}

/** Takes bytes from the end of a file. */
function cut(path: string, bytes: number): void {
  truncateSync(path, statSync(path).size - bytes)
}

/** Overwrites a part of a file. */
function damage(path: string, from: number, to: number): void {
  writeFileSync(path, readFileSync(path).fill(0xff, from, to))
}

const LACKS_PAGES = /plants\.db is corrupt \(.*\)$/

test.each<[what: string, message: RegExp, make: (path: string) => void]>([
  [
    'a database of another program',
    /is a database of another program/,
    (path) => {
      rmSync(path)
      execute(path, 'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT)')
    },
  ],
  [
    'a schema that is newer than the program',
    /schema version 99, newer than/,
    (path) => execute(path, "INSERT INTO migrations VALUES (99, 'from the future', 0)"),
  ],
  ['a damaged first page', /plants\.db is corrupt/, (path) => damage(path, 100, PAGE_BYTES)],
  ['no second half', LACKS_PAGES, (path) => cut(path, statSync(path).size / 2)],
  ['no last page', LACKS_PAGES, (path) => cut(path, PAGE_BYTES)],
  ['no last byte', LACKS_PAGES, (path) => cut(path, 1)],
  ['a log alone', /is missing but .*-wal is not/, (path) => renameSync(path, `${path}-wal`)],
  [
    'a log beside an empty database',
    /is empty but .*-wal is not/,
    (path) => {
      renameSync(path, `${path}-wal`)
      writeFileSync(path, '')
    },
  ],
])('%s is refused at once, and left as it was', async (_what, message, make) => {
  const { path } = await arrange(2_000)
  make(path)
  const folder = join(path, '..')
  const before = contentsOf(folder)
  await expect(open(path)).rejects.toThrow(StoreRefusedError)
  await expect(open(path)).rejects.toThrow(message)
  expect(contentsOf(folder)).toEqual(before)
})

test('a page that is damaged deep in the file stops no start', async () => {
  const { path } = await arrange(2_000)
  const { size } = statSync(path)
  damage(path, size - 4 * PAGE_BYTES, size - 3 * PAGE_BYTES)
  await (await open(path)).close()
})

describe('a file that may be used', () => {
  test('is completed when its making was interrupted', async () => {
    const path = newPath()
    execute(path, 'PRAGMA journal_mode = wal')
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
    other.close()
    expect(await outcome).toBe('created')
    await store.close()
  })
})
