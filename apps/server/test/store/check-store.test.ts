import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/sqlite/database/database.ts'
import { openSqliteStore } from '../../src/sqlite/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const PAGE_BYTES = 4_096
const PLANTS = 20_000

async function makeStore(plants = PLANTS): Promise<string> {
  const path = join(temporaryFolder(), 'plants.db')
  const database = await openDatabase(path)
  database.exec(`WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ${plants})
    INSERT INTO plants (id, name, tag) SELECT id, 'Färn ' || id, iif(id % 2, 'indoor', NULL) FROM ids`)
  database.close()
  return path
}

async function open(path: string): Promise<Store> {
  const store = await openSqliteStore({ path, queueLimit: 10_000 })
  onTestFinished(() => store.close())
  return store
}

async function check(store: Store) {
  let plants = 0
  const damage = await store.check?.((count) => {
    plants += count
  })
  return { damage, plants }
}

/** Changes bytes of a file where a text stands in it, the last time. */
function overwrite(path: string, text: string, by: Buffer): void {
  const bytes = readFileSync(path)
  by.copy(bytes, bytes.lastIndexOf(text))
  writeFileSync(path, bytes)
}

function fillPage(path: string, page: number, byte: number): void {
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(byte, (page - 1) * PAGE_BYTES, page * PAGE_BYTES))
}

/** The page of the b-tree of plants that is its root. */
function rootOf(path: string, table: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  const row = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)
  database.close()
  return Number(row?.rootpage)
}

describe('a check', () => {
  test.each([1, PLANTS])('reads each of %d plants and meets no damage', async (plants) => {
    const store = await open(await makeStore(plants))
    expect(await check(store)).toEqual({ damage: undefined, plants })
    expect(await check(store)).toEqual({ damage: undefined, plants })
  })

  test('reads the smallest and the largest id, long names and what a name may hold', async () => {
    const store = await open(join(temporaryFolder(), 'plants.db'))
    expect(await check(store)).toEqual({ damage: undefined, plants: 0 })
    const names = ['', 'a\0b', '🌱', 'x'.repeat(700_000), 'y'.repeat(700_000), "'; --"]
    const ids = [-(2n ** 63n), -1n, 0n, 1n, 2n, 2n ** 63n - 1n]
    for (const [index, id] of ids.entries()) {
      await store.plants.create({ id, name: names[index] ?? '', tag: 'ä' })
    }
    expect(await check(store)).toEqual({ damage: undefined, plants: ids.length })
  })

  test('reads what only the log holds', async () => {
    const store = await open(await makeStore(1))
    await store.plants.create({ id: 2n, name: 'Moss' })
    expect(await check(store)).toEqual({ damage: undefined, plants: 2 })
  })
})

describe('a check meets', () => {
  test.each<[string, (path: string) => void, RegExp]>([
    [
      'a page of other bytes',
      (path) => fillPage(path, statSync(path).size / PAGE_BYTES - 3, 0xff),
      /malformed, at the id \d+ or after it/,
    ],
    [
      'a page that was never written',
      (path) => fillPage(path, statSync(path).size / PAGE_BYTES - 3, 0),
      /malformed, at the id \d+ or after it/,
    ],
    [
      'text that is not UTF-8',
      (path) => overwrite(path, 'ärn 15000', Buffer.from([0xc3, 0xc3])),
      /^a plant between the ids \d+ and \d+ has text that is not UTF-8$/,
    ],
    [
      'an id in a wrong place',
      // A cell has its length, its id as a varint of three bytes here, and a header of four.
      (path) => {
        const bytes = readFileSync(path)
        const cell = bytes.lastIndexOf('Färn 19000') - 4
        expect(bytes[cell]).toBe(4)
        bytes[cell - 3] = 0x80
        writeFileSync(path, bytes)
      },
      /^plants between the ids \d+ and \d+ are not in order$/,
    ],
    [
      'a value of a wrong type',
      (path) => {
        const bytes = readFileSync(path)
        const cell = bytes.lastIndexOf('Färn 19000') - 4
        // An even serial type from 12 up is a blob, the odd one after it a text.
        bytes[cell + 2] = Number(bytes[cell + 2]) - 1
        writeFileSync(path, bytes)
      },
      /^a plant between the ids \d+ and \d+ has a value of a wrong type$/,
    ],
    ['a damaged table of tokens', (path) => fillPage(path, rootOf(path, 'tokens'), 0xff), /tokens/],
    [
      'a table that nobody made',
      (path) => {
        const database = new DatabaseSync(path)
        database.exec('CREATE TABLE strange (id)')
        database.close()
      },
      /table strange was added/,
    ],
  ])('%s', async (what, damageFile, message) => {
    const path = await makeStore()
    // What SQLite itself made is open to nobody before the start.
    const isMadeBySql = what === 'a table that nobody made'
    if (!isMadeBySql) damageFile(path)
    const store = await open(path)
    if (isMadeBySql) damageFile(path)
    expect((await check(store)).damage).toMatch(message)
    expect(await store.isReady()).toBe(true)
    expect(await store.plants.create({ id: BigInt(PLANTS) + 1n, name: 'new' })).toBe('created')
  })
})

describe('beside a check', () => {
  test('creates go on and the log stays as small as without', async () => {
    const path = await makeStore()
    const store = await open(path)
    let isChecking = true
    const checked = check(store).finally(() => {
      isChecking = false
    })
    let id = 1_000_000n
    while (isChecking) {
      const batch = Array.from({ length: 50 }, () => ++id)
      await Promise.all(batch.map((one) => store.plants.create({ id: one, name: 'Moss' })))
      // Small commits may all be made in one turn, in which no word comes from the check's thread.
      await nextTurn()
    }
    expect((await checked).damage).toBeUndefined()
    expect((await checked).plants).toBeGreaterThanOrEqual(PLANTS)
    expect(id).toBeGreaterThan(1_000_100n)
    expect(statSync(`${path}-wal`).size).toBeLessThan(8_388_608)
  })

  test('the store can be closed, which ends it', async () => {
    const path = await makeStore()
    const store = await openSqliteStore({ path, queueLimit: 1 })
    let parts = 0
    const ended = store.check?.(() => {
      parts += 1
      if (parts === 3) void store.close()
    })
    await expect(ended).rejects.toThrow('the check was stopped')
    await store.close()
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })).toBeUndefined()
    await expect(store.check?.(() => {})).rejects.toThrow('the store is closed')
  })
})
