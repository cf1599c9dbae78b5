import { statSync, truncateSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { NewPlant } from '@plant-store/contract'
import { describe, expect, test } from 'vitest'
import { engineOf } from '../../src/engines.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { damagePage, leavesOf, spreadPlants } from './plants.ts'
import { arrange, type Ended, ends } from './program.ts'
import { startShell } from './shell.ts'

/** The plants of lines, their ids to the digit. */
function readLines(lines: string): NewPlant[] {
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => ({ ...JSON.parse(line), id: BigInt(/^\{"id":(-?\d+)/.exec(line)?.[1] ?? '') }))
}

describe('export', () => {
  test('writes 20,000 plants exactly, in id order', async () => {
    const plants = spreadPlants(20_000)
    const { shell } = await arrange(plants)
    const { code, out, err } = await shell('server export')
    expect(err).toMatch(/^Exported 20,000 plants: [\d.]+ MB in [\d.]+ s/m)
    expect(code).toBe(0)
    expect(readLines(out)).toEqual(plants.toSorted((one, other) => (one.id < other.id ? -1 : 1)))
  })

  test('as csv is what COPY of PostgreSQL reads', async () => {
    const { run } = await arrange([
      { id: -(2n ** 63n), name: 'a "b", c', tag: '' },
      { id: 2n ** 53n + 1n, name: 'two\nlines\r', tag: '\\N' },
      { id: 2n ** 63n - 1n, name: '\\.' },
    ])
    expect((await run('export --format csv')).out).toBe(
      `id,name,tag
-9223372036854775808,"a ""b"", c",""
9007199254740993,"two
lines\r",\\N
9223372036854775807,\\.,
`,
    )
  })

  test('whose reader stops early ends quietly with 0', async () => {
    const { code, out, err } = await (await arrange(20_000)).shell('server export | head -n 1')
    expect({ code, lines: out.split('\n').length }).toEqual({ code: 0, lines: 2 })
    expect(err).toMatch(/^SQLite .*plants\.db\n$/)
  })

  test('whose reader takes nothing ends on a signal', async () => {
    const { kill, texts, until, ended } = startShell(
      (await arrange(20_000)).folder,
      'server export > >(trap "" TERM; exec sleep 30 > /dev/null 2>&1)',
    )
    await until(() => texts.err !== '')
    void kill('SIGTERM')
    expect((await ended).err).toContain('stopped before the end: the export is not whole')
  })

  test('that hangs does not keep other commands waiting', async () => {
    const { path } = await arrange(10)
    const writer = await openSqliteStore({ path })
    const snapshot = await engineOf(`sqlite:${path}`).snapshot()
    await writer.plants.create({ id: 1n, name: 'after the snapshot' })
    const start = performance.now()
    await (await openSqliteStore({ path })).close()
    expect(performance.now() - start).toBeLessThan(3_000)
    await snapshot.close()
    await writer.close()
  })

  test('that cannot be written says so', async () => {
    const { shell } = await arrange(1)
    expect(await shell('server export > /dev/full')).toMatchObject(ends(74, 'ENOSPC'))
  })

  test('of an empty store is empty, with a header in csv', async () => {
    const { run } = await arrange(0)
    expect(await run('export')).toMatchObject({ code: 0, out: '' })
    expect(await run('export --format csv')).toMatchObject({ code: 0, out: 'id,name,tag\n' })
  })

  test('as jsonl holds nothing that a terminal would obey, and every letter', async () => {
    const names = ['\u0085\u009b31m\u007f', '\u202e\u2066\u200f\u2028', '\u001b[2J', '👩\u200d🌾 é']
    const plants = names.map((name, id) => ({ id: BigInt(id), name, tag: name }))
    const { out } = await (await arrange(plants)).run('export')
    expect(out).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u)
    expect(readLines(out)).toEqual(plants)
  })
})

type Leaf = ReturnType<typeof leavesOf>[number]

/** All plants of good leaves are written as they were, and the ids of all others named. */
function expectSalvaged(
  { code, out, err }: Ended,
  plants: readonly NewPlant[],
  leaves: readonly Leaf[],
  isDamaged: (leaf: Leaf) => boolean,
): void {
  expect(code).toBe(65)
  const read = new Map(readLines(out).map((plant) => [plant.id, plant]))
  const gaps = Array.from(err.matchAll(/^Damaged: the ids from (-?\d+) to (-?\d+)\.$/gm))
  const isNamed = (id: bigint) =>
    gaps.some(([, first = '', last = '']) => BigInt(first) <= id && id <= BigInt(last))
  const isGood = leaves.flatMap((leaf) => Array(leaf.plants).fill(!isDamaged(leaf)))
  expect(isGood).toHaveLength(plants.length)
  const wrong = plants.filter((plant, index) => {
    const written = read.get(plant.id)
    if (written === undefined) return isGood[index] || !isNamed(plant.id)
    return !isDeepStrictEqual(written, plant) || isNamed(plant.id)
  })
  expect(wrong).toEqual([])
}

describe('the export of a damaged store ends with 65, and leaves out the damaged pages alone', () => {
  const ascending = Array.from({ length: 9_000 }, (_, id) => ({
    id: BigInt(id),
    name: `plant ${id}`,
  }))
  const uneven = ascending.map(({ id, name }) => ({
    id,
    name: id < 2_000n ? name : name.repeat(20),
  }))
  const inOrder = spreadPlants(9_000).toSorted((one, other) => (one.id < other.id ? -1 : 1))

  test.each<[what: string, plants: NewPlant[], pages: number[], from: number, fill: number]>([
    ['emptied', ascending, [10], 0, 0],
    ['overwritten', ascending, [10], 0, 0xa5],
    ['half emptied', ascending, [10], 2_000, 0],
    ['of ids all over int64', inOrder, [30], 0, 0],
    ['the first', ascending, [0], 0, 0],
    ['the last', ascending, [-1], 0, 0],
    ['several, with good ones between', ascending, [3, 5, 6, 20], 0, 0],
    ['several, with one of few plants between', uneven, [8, 10, 11, 12, 13], 0, 0],
    ['several of ids all over int64', inOrder, [3, 5, 6, 20], 0, 0xff],
  ])('%s', async (_what, plants, pages, from, fill) => {
    const { path, run } = await arrange(plants)
    const leaves = leavesOf(path)
    const damaged = new Set(pages.map((page) => leaves.at(page)))
    for (const leaf of damaged) damagePage(path, leaf?.at ?? 0, fill, from)
    expectSalvaged(await run('export'), plants, leaves, (leaf) => damaged.has(leaf))
  })

  test.each([1, 4_096, 100_000])('those that a file lacks that is cut by %i', async (bytes) => {
    const { path, run } = await arrange(ascending)
    const leaves = leavesOf(path)
    const size = statSync(path).size - bytes
    truncateSync(path, size)
    expectSalvaged(await run('export'), ascending, leaves, ({ at }) => at + 4_096 > size)
  })
})
