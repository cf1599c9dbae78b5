import { once } from 'node:events'
import { join } from 'node:path'
import type { NewPlant } from '@plant-store/contract'
import { describe, expect, test } from 'vitest'
import { engineOf } from '../../src/engines.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { startLoad } from '../process/load.ts'
import { startServerProcess } from '../process/server-process.ts'
import { readPlants } from '../sqlite/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { makeStore, spreadPlants } from './plants.ts'
import { runOn, runProgram, until } from './program.ts'
import { killAll, runShell, startShell } from './shell.ts'

/** Half of it is Node.js with two threads, before the first plant. */
const PEAK_MEMORY_LIMIT_MIB = 220

/** The plant of a line, its id to the digit. */
function readLine(line: string): NewPlant {
  const id = BigInt(/^\{"id":(-?\d+)/.exec(line)?.[1] ?? '')
  return { ...JSON.parse(line), id }
}

/** The plants of CSV whose texts hold no line break. */
function readCsv(csv: string): NewPlant[] {
  return csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((record) => {
      const fields = Array.from(record.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g))
      const [id, name, tag] = fields.map(([, quoted, plain]) =>
        quoted === undefined ? plain || undefined : quoted.replaceAll('""', '"'),
      )
      return { id: BigInt(id ?? ''), name: name ?? '', ...(tag !== undefined && { tag }) }
    })
}

describe('export', () => {
  test.each(['jsonl', 'csv'])(
    'writes 20,000 plants as %s, exactly and in bounded memory',
    async (format) => {
      const folder = temporaryFolder()
      const plants = spreadPlants(20_000).map(({ tag, ...plant }) =>
        tag === undefined ? plant : { ...plant, tag: tag.replace('\n', ' ') },
      )
      await makeStore(join(folder, 'a.db'), plants)
      const { code, out, err, peakMemoryMiB } = await runShell(
        folder,
        `server export --format ${format} --database-url sqlite:a.db`,
      )
      expect(err).toMatch(/^Exported 20,000 plants: [\d.]+ MB in [\d.]+ s/m)
      expect(code).toBe(0)
      const read = format === 'csv' ? readCsv(out) : out.trimEnd().split('\n').map(readLine)
      expect(read).toEqual(plants.toSorted((one, other) => (one.id < other.id ? -1 : 1)))
      expect(peakMemoryMiB).toBeLessThan(PEAK_MEMORY_LIMIT_MIB)
    },
  )

  test('as csv is what COPY of PostgreSQL reads', async () => {
    const path = join(temporaryFolder(), 'plants.db')
    const plants = [
      { id: -(2n ** 63n), name: 'a "b", c', tag: '' },
      { id: 2n ** 53n + 1n, name: 'two\nlines\r', tag: '\\N' },
      { id: 2n ** 63n - 1n, name: '\\.' },
    ]
    await makeStore(path, plants)
    expect((await runOn(path, 'export --format csv')).out).toBe(
      `id,name,tag
-9223372036854775808,"a ""b"", c",""
9007199254740993,"two
lines\r",\\N
9223372036854775807,\\.,
`,
    )
  })

  test('while plants are created is what one moment held, in id order', async () => {
    const folder = temporaryFolder()
    await makeStore(join(folder, 'data/plants.db'), spreadPlants(5_000))
    const { out: token } = await runShell(folder, 'server token create --name load')
    const server = await startServerProcess({ folder, token: token.trim() })
    const load = startLoad(server.client, 8)
    await until(() => load.acknowledged.size > 50)
    const before = [...load.acknowledged.keys()]
    const { code, out } = await runShell(folder, 'server export | (sleep 0.2; cat)')
    load.stop()
    await load.ended
    const lines = out.trimEnd().split('\n')
    const ids = lines.map((line) => BigInt(/"id":(-?\d+)/.exec(line)?.[1] ?? ''))
    expect(code).toBe(0)
    expect(ids).toEqual(ids.toSorted((one, other) => (one < other ? -1 : 1)))
    expect(before.length).toBeGreaterThan(0)
    expect(before.filter((id) => !ids.includes(id))).toEqual([])
    expect(readPlants(join(folder, 'data/plants.db')).length).toBeGreaterThan(ids.length)
  })

  test('whose reader stops early ends quietly with 0', async () => {
    const folder = temporaryFolder()
    await makeStore(join(folder, 'data/plants.db'), spreadPlants(20_000))
    const { code, out, err } = await runShell(folder, 'server export | head -n 1')
    expect({ code, lines: out.split('\n').length }).toEqual({ code: 0, lines: 2 })
    expect(err).toMatch(/^SQLite .*plants\.db\n$/)
  })

  test('whose reader takes nothing ends on a signal', async () => {
    const folder = temporaryFolder()
    await makeStore(join(folder, 'data/plants.db'), spreadPlants(20_000))
    const { child, ended } = startShell(
      folder,
      'server export > >(trap "" TERM; exec sleep 30 > /dev/null 2>&1)',
    )
    await once(child.stderr ?? child, 'data')
    killAll(child, 'SIGTERM')
    expect((await ended).err).toContain('stopped before the end: the export is not whole')
  })

  test('that hangs does not keep other commands waiting', async () => {
    const path = join(temporaryFolder(), 'plants.db')
    await makeStore(path, spreadPlants(10))
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
    const folder = temporaryFolder()
    await makeStore(join(folder, 'data/plants.db'), spreadPlants(1))
    const { code, err } = await runShell(folder, 'server export > /dev/full')
    expect({ code, err }).toEqual({ code: 74, err: expect.stringContaining('ENOSPC') })
  })

  test('of a store that does not exist makes none', async () => {
    const path = join(temporaryFolder(), 'plants.db')
    const { code, out, err } = await runOn(path, 'export')
    expect({ code, out }).toEqual({ code: 69, out: '' })
    expect(err).toBe(`plant-store-server: there is no plant store in ${path}\n`)
  })

  test('of an empty store is empty, with a header in csv', async () => {
    const path = join(temporaryFolder(), 'plants.db')
    await makeStore(path, [])
    expect(await runOn(path, 'export')).toMatchObject({ code: 0, out: '' })
    const csv = await runOn(path, 'export --format csv')
    expect(csv).toMatchObject({ code: 0, out: 'id,name,tag\n' })
  })

  test('as jsonl holds nothing that a terminal would obey, and every letter', async () => {
    const folder = temporaryFolder()
    const names = ['\u0085\u009b31m\u007f', '\u202e\u2066\u200f\u2028', '\u001b[2J', '👩\u200d🌾 é']
    const plants = names.map((name, id) => ({ id: BigInt(id), name, tag: name }))
    await makeStore(join(folder, 'a.db'), plants)
    const { out } = await runOn(join(folder, 'a.db'), 'export')
    expect(out).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u)
    expect(out.trimEnd().split('\n').map(readLine)).toEqual(plants)
  })

  test('in a format that does not exist is refused with those that do', async () => {
    const err = expect.stringContaining('Allowed choices are jsonl, csv')
    expect(await runProgram(['export', '--format', 'xml'])).toMatchObject({ code: 78, err })
  })
})
