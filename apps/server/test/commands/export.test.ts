import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { engineOf } from '../../src/engines.ts'
import { openSqliteStore } from '../../src/sqlite/sqlite.ts'
import { startLoad } from '../process/load.ts'
import { startServerProcess } from '../process/server-process.ts'
import { readPlants } from '../store/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { contentOf, makeStore, spreadPlants } from './plants.ts'
import { runOn, runProgram, until } from './program.ts'
import { killAll, runShell, startShell } from './shell.ts'

/** Half of it is Node.js with two threads, before the first plant. */
const PEAK_MEMORY_LIMIT_MIB = 220

describe('export | load', () => {
  test.each(['jsonl', 'csv'])(
    'copies 20,000 plants as %s, exactly and in bounded memory',
    async (format) => {
      const folder = temporaryFolder()
      await makeStore(join(folder, 'a.db'), spreadPlants(20_000))
      const { code, err, peakMemoryMiB } = await runShell(
        folder,
        `server export --format ${format} --database-url sqlite:a.db |
         server load - --format ${format} --database-url sqlite:b.db`,
      )
      expect(err).toMatch(/^Exported 20,000 plants: [\d.]+ MB in [\d.]+ s/m)
      expect(err).toContain(
        'Read 20,000 plants: 20,000 created, 0 already there, 0 conflicting, 0 invalid. ',
      )
      expect(code).toBe(0)
      expect(contentOf(join(folder, 'b.db'))).toEqual(contentOf(join(folder, 'a.db')))
      expect(peakMemoryMiB).toBeLessThan(PEAK_MEMORY_LIMIT_MIB)
    },
  )
})

describe('export', () => {
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
    const writer = await openSqliteStore({ path, queueLimit: 10 })
    const snapshot = await engineOf(`sqlite:${path}`).snapshot()
    await writer.plants.create({ id: 1n, name: 'after the snapshot' })
    const start = performance.now()
    await (await openSqliteStore({ path, queueLimit: 1 })).close()
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

  test('as csv is exact, and says how much of it a spreadsheet would change', async () => {
    const path = join(temporaryFolder(), 'plants.db')
    const risky = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '\nx', '\uff1d1']
    const names = [...risky, 'Fern', 'a=b', '']
    const ids = [10n ** 15n, -(10n ** 15n), 10n ** 15n - 1n]
    const plants = names.map((name, index) => ({ id: ids[index] ?? BigInt(index), name }))
    await makeStore(path, [...plants, { id: -1n, name: 'Fern', tag: '=cmd' }])
    const { out, err } = await runOn(path, 'export --format csv')
    expect(out).toContain('\n3,@SUM(A1),\n')
    expect(err).toContain('names and tags that begin as a formula does: 9. Try: import every col')
    expect(err).toContain('ids with more than 15 digits: 2. Try: import every column as text\n')
    expect((await runOn(path, 'export')).err).not.toContain('spreadsheet')
    const help = await runProgram(['export', '--help'])
    expect(help.out).toContain('one that begins with = + - or @ is a formula')
  })

  test('as csv says nothing more where a spreadsheet changes nothing', async () => {
    const path = join(temporaryFolder(), 'plants.db')
    await makeStore(path, [{ id: -1n, name: 'Fern', tag: 'a-b' }])
    const args = ['export', '--format', 'csv', '--database-url', `sqlite:${path}`]
    expect((await runProgram(args)).err).toMatch(
      /^SQLite .*\nExported 1 plant: \d+ B in [\d.]+ s.*\.\n$/,
    )
  })

  test('as jsonl holds nothing that a terminal would obey, and every letter', async () => {
    const folder = temporaryFolder()
    const names = ['\u0085\u009b31m\u007f', '\u202e\u2066\u200f\u2028', '\u001b[2J', '👩\u200d🌾 é']
    const plants = names.map((name, id) => ({ id: BigInt(id), name, tag: name }))
    await makeStore(join(folder, 'a.db'), plants)
    const { out } = await runOn(join(folder, 'a.db'), 'export')
    expect(out).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u)
    expect((await runOn(join(folder, 'b.db'), 'load -', { input: out })).code).toBe(0)
    expect(contentOf(join(folder, 'b.db'))).toEqual(contentOf(join(folder, 'a.db')))
  })

  test('in a format that does not exist is refused with those that do', async () => {
    const err = expect.stringContaining('Allowed choices are jsonl, csv')
    expect(await runProgram(['export', '--format', 'xml'])).toMatchObject({ code: 78, err })
  })
})
