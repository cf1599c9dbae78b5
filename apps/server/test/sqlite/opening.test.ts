import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/sqlite/open.ts'
import { StoreRefusedError } from '../../src/store/store.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const PAGE_BYTES = 4_096

/** Makes a store with plants from 1 up, past the program because that is quick. */
async function makeStore(plants: number): Promise<string> {
  const path = join(temporaryFolder(), 'plants.db')
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

test('a header that was half written is refused at once', async () => {
  const path = await makeStore(2_000)
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0, 16, 512))
  await expect(openDatabase(path)).rejects.toThrow(/plants\.db (?:is|cannot be read)/)
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
