import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connect } from '../../src/sqlite/database/connect.ts'
import { digestRows } from '../../src/sqlite/database/digest.ts'
import { runToEnd } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { contentOf, execute, makeStore, query, spreadPlants, takeSchemaBack } from './plants.ts'
import { runOn } from './program.ts'

async function arrange() {
  const folder = temporaryFolder()
  const source = join(folder, 'source.db')
  const backup = join(folder, 'backup.db')
  const target = join(folder, 'target.db')
  await makeStore(source, [...spreadPlants(2_500), { id: 7n, name: 'Wollemia nobilis' }])
  await runOn(source, 'token create --name greenhouse')
  expect(await runOn(source, `backup ${backup}`)).toMatchObject({
    code: 0,
    err: expect.stringContaining('carries a digest of its content'),
  })
  return { folder, source, backup, target, restore: () => runOn(target, `restore ${backup}`) }
}

/** Flips the lowest bit of the first byte of a text that a file holds. */
function flipBit(path: string, text: string): void {
  const bytes = readFileSync(path)
  const at = bytes.indexOf(text)
  expect(at).toBeGreaterThan(0)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

const HAS_DIGEST = "SELECT count(*) AS tables FROM sqlite_schema WHERE name = 'backup_digest'"

describe('one bit that flips in a backup,', () => {
  test.each([
    ['inside a name', 'Wollemia nobilis'],
    ['inside the name of a token', 'greenhouse'],
  ])('%s, is found by restore, though SQLite finds the file in order', async (_where, text) => {
    const { backup, target, restore } = await arrange()
    flipBit(backup, text)
    expect(query(backup, 'PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' })
    const { code, err } = await restore()
    expect(code).toBe(69)
    expect(err).toMatch(/backup\.db does not hold what was backed up: .* Try: another backup/)
    expect(existsSync(target)).toBe(false)
  })

  test('in its digest, is found by restore', async () => {
    const { backup, restore } = await arrange()
    execute(backup, "UPDATE backup_digest SET sha256 = x'00'")
    expect(await restore()).toMatchObject({ code: 69 })
    execute(backup, 'DELETE FROM backup_digest')
    expect(await restore()).toMatchObject({ code: 69 })
  })

  test('is found by the server where the backup was put in the place of its store', async () => {
    const { folder, backup } = await arrange()
    flipBit(backup, 'Wollemia nobilis')
    const ended = await runToEnd({ folder, args: ['serve', '--database-url', 'sqlite:backup.db'] })
    expect(ended).toMatchObject({
      code: 69,
      err: expect.stringContaining('does not hold what was backed up'),
    })
  })

  test('is found by a backup of it', async () => {
    const { folder, backup } = await arrange()
    flipBit(backup, 'Wollemia nobilis')
    const second = join(folder, 'second.db')
    expect(await runOn(backup, ['backup', second])).toMatchObject({ code: 69 })
    expect(existsSync(second)).toBe(false)
  })
})

describe('a backup', () => {
  test('of an earlier program, without a digest, is restored with a remark', async () => {
    const { source, backup, target, restore } = await arrange()
    execute(backup, 'DROP TABLE backup_digest')
    const { code, err } = await restore()
    expect(code).toBe(0)
    expect(err).toContain('It carries no digest')
    expect(contentOf(target)).toEqual(contentOf(source))
  })

  test('that is put in the place of its store is one from then on', async () => {
    const { source, backup } = await arrange()
    expect(await runOn(backup, ['token', 'list'])).toMatchObject({ code: 0 })
    expect(contentOf(backup)).toEqual(contentOf(source))
    expect(query(backup, HAS_DIGEST)).toEqual({ tables: 0 })
  })

  test('of a backup carries a digest of its own, and what is restored from it has none', async () => {
    const { folder, source, backup, target } = await arrange()
    const second = join(folder, 'second.db')
    expect(await runOn(backup, ['backup', second])).toMatchObject({ code: 0 })
    expect(query(second, HAS_DIGEST)).toEqual({ tables: 1 })
    expect(await runOn(target, ['restore', second])).toMatchObject({
      code: 0,
      err: expect.stringContaining('They match its digest.'),
    })
    expect(contentOf(target)).toEqual(contentOf(source))
    expect(query(target, HAS_DIGEST)).toEqual({ tables: 0 })
  })

  test('that was made before a migration carries one too', async () => {
    const { source, target } = await arrange()
    takeSchemaBack(source)
    expect(await runOn(source, ['migrate'])).toMatchObject({ code: 0 })
    flipBit(`${source}.schema-1`, 'Wollemia nobilis')
    expect(await runOn(target, ['restore', `${source}.schema-1`])).toMatchObject({ code: 69 })
  })
})

describe('the digest', () => {
  type Row = [id: bigint, name: string, tag: string | null]

  async function digestOf(rows: readonly Row[], signal?: AbortSignal): Promise<string> {
    const database = connect(':memory:')
    database.exec(
      'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT',
    )
    const insert = database.prepare('INSERT INTO plants VALUES (?, ?, ?)')
    insert.setReadBigInts(true)
    for (const row of rows) insert.run(...row)
    try {
      return await digestRows(database, signal)
    } finally {
      database.close()
    }
  }

  test('differs for all contents that differ', async () => {
    const lone: Row[] = [
      [1n, '', null],
      [1n, '', ''],
      [1n, '-', null],
      [1n, '', '-'],
      [1n, 'a', 'b'],
      [1n, 'b', 'a'],
      [1n, 'ab', ''],
      [1n, 'a,1:b', null],
      [1n, 'a,b', 'c'],
      [1n, 'a', 'b,c'],
      [1n, 'a\0', null],
      [1n, 'a', null],
      [1n, 'a\0b', null],
      [1n, 'A', null],
      [1n, 'é', null],
      [1n, 'e\u0301', null],
      [-1n, 'a', null],
      [-(2n ** 63n), 'a', null],
      [2n ** 63n - 1n, 'a', null],
      [2n ** 63n - 2n, 'a', null],
    ]
    const contents: Row[][] = [
      [],
      ...lone.map((row) => [row]),
      [
        [1n, 'a', null],
        [2n, 'b', null],
      ],
      [
        [1n, 'a-1:2,1:b', null],
        [2n, '', null],
      ],
    ]
    const digests = await Promise.all(contents.map((rows) => digestOf(rows)))
    expect(new Set(digests).size).toBe(contents.length)
  })

  test('is the same for the same rows in whatever order, and however many are read at once', async () => {
    const many = spreadPlants(3_000).map(
      ({ id, name, tag }): Row => [BigInt(id), name, tag ?? null],
    )
    const long: Row = [2n ** 63n - 1n, 'x'.repeat(100_000), null]
    const forwards = await digestOf([...many, long])
    expect(await digestOf([long, ...many.toReversed()])).toBe(forwards)
    expect(await digestOf(many)).not.toBe(forwards)
  })

  test('reads plants one by one where many would be longer than SQLite allows', async () => {
    let reads = 0
    const signal = Object.assign(new EventTarget() as AbortSignal, {
      throwIfAborted: () => {
        reads++
      },
    })
    const rows = [0n, 1n, 2n].map((id): Row => [id, 'x'.repeat(9_000_000), null])
    await digestOf(rows, signal)
    expect(reads).toBe(3)
  })

  test('is what it was when the first backup was made', async () => {
    expect(
      await digestOf([
        [-5n, 'Fern', 'indoor'],
        [7n, 'é\n', null],
      ]),
    ).toBe('d7ae34b848e9b9929bd2075577d2e166489992e17e6150ed8e6e605d69a3ed79')
  })
})
