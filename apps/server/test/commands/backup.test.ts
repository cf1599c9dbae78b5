import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startLoad } from '../process/load.ts'
import { startServerProcess } from '../process/server-process.ts'
import { readPlants } from '../sqlite/sqlite-file.ts'
import { startScrapedServer } from '../telemetry/scraped-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { contentOf, damage, makeStore, query, spreadPlants } from './plants.ts'
import { runOn, until } from './program.ts'
import { killAll, runShell, startShell } from './shell.ts'

function arrange() {
  const folder = temporaryFolder()
  const path = join(folder, 'plants.db')
  return {
    folder,
    path,
    target: join(folder, 'backup.db'),
    backUp: (target: string) => runOn(path, ['backup', target]),
  }
}

describe('backup', () => {
  test('is one file with everything that the store holds, for its owner only', async () => {
    const { folder, path, target, backUp } = arrange()
    await makeStore(path, spreadPlants(2_000))
    chmodSync(path, 0o640)
    const { code, out, err } = await backUp(target)
    expect({ code, out }).toEqual({ code: 0, out: '' })
    expect(err).toContain('backup.db holds 2,000 plants and 0 tokens, was checked to its')
    expect(contentOf(target)).toEqual(contentOf(path))
    expect(statSync(target).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder).filter((name) => !name.startsWith('plants.db'))).toEqual([
      'backup.db',
    ])
  })

  test('under load is whole, and holds every plant that was acknowledged before it', async () => {
    const folder = temporaryFolder()
    const server = await startServerProcess({ folder })
    const load = startLoad(server.client, 8)
    await until(() => load.acknowledged.size > 200)
    const before = [...load.acknowledged.keys()]
    const { code } = await runShell(folder, 'server backup backup.db')
    const answeredDuring = load.acknowledged.size - before.length
    load.stop()
    await load.ended
    expect(code).toBe(0)
    expect(answeredDuring).toBeGreaterThan(0)
    expect(load.acknowledged.size).toBe(load.sent.size)
    expect(query(join(folder, 'backup.db'), 'PRAGMA integrity_check')).toEqual({
      integrity_check: 'ok',
    })
    const stored = new Set(readPlants(join(folder, 'backup.db')).map(({ id }) => id))
    expect(before.filter((id) => !stored.has(id))).toEqual([])
    const all = new Set(load.sent.keys())
    expect([...stored].filter((id) => !all.has(id))).toEqual([])
  })

  test('that is killed at any moment leaves no file under the final name, or a whole one', async () => {
    const { folder, path } = arrange()
    await makeStore(path, spreadPlants(150_000))
    const names: string[] = []
    for (const delayMs of [0, 10, 25, 50]) {
      const name = `backup-${delayMs}.db`
      const { child, ended } = startShell(
        folder,
        `server backup ${name} --database-url sqlite:plants.db`,
      )
      // Once the partial file is there, the copy is under way.
      await until(() => readdirSync(folder).some((other) => other.startsWith(name)))
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      killAll(child)
      await ended
      names.push(name)
    }
    const finished = names.filter((name) => existsSync(join(folder, name)))
    expect(finished.length).toBeLessThan(names.length)
    for (const name of finished) expect(contentOf(join(folder, name)).count).toBe(150_000)
  }, 60_000)

  test('that is asked to stop leaves nothing', async () => {
    const { folder, path, target } = arrange()
    await makeStore(path, spreadPlants(1_000))
    const stop = AbortSignal.abort('SIGTERM')
    const { code, err } = await runOn(path, ['backup', target], { stop })
    expect(code).toBe(75)
    expect(err).toContain('stopped before the end. There is no backup')
    expect(readdirSync(folder).filter((name) => name.startsWith('backup'))).toEqual([])
  })

  test('never replaces a file, not even the store', async () => {
    const { path, target, backUp } = arrange()
    await makeStore(path, spreadPlants(1))
    writeFileSync(target, 'letters of somebody')
    for (const file of [target, path]) {
      const { code, err } = await backUp(file)
      expect(code).toBe(73)
      expect(err).toContain(`${file} exists already, and nothing is ever replaced. Try: another`)
    }
    expect(readFileSync(target, 'utf8')).toBe('letters of somebody')
  })

  test('says what is wrong with the folder or the store', async () => {
    const { folder, path, target, backUp } = arrange()
    expect(await backUp(target)).toMatchObject({
      code: 69,
      err: expect.stringContaining(`there is no plant store in ${path}`),
    })
    await makeStore(path, [])
    expect(await backUp(join(folder, 'none/backup.db'))).toMatchObject({
      code: 73,
      err: expect.stringMatching(/cannot make .*backup\.db: ENOENT/),
    })
    expect(readdirSync(folder).filter((name) => name.startsWith('backup'))).toEqual([])
  })

  test('of a damaged store is none, and says which file is damaged', async () => {
    const { folder, path, target, backUp } = arrange()
    await makeStore(path, spreadPlants(2_000))
    damage(path)
    const { code, err } = await backUp(target)
    expect(code).toBe(69)
    expect(err).toMatch(/plants\.db is corrupt \(.*\)\. Try: plant-store-server restore BACKUP/)
    expect(readdirSync(folder).filter((name) => name.startsWith('backup'))).toEqual([])
  })
})

describe('the last good backup', () => {
  const METRIC = 'plant_store_last_backup_timestamp_seconds'

  test('is noted beside the store, and a server that runs says its time', async () => {
    const server = await startScrapedServer()
    expect((await server.scrape()).get(METRIC)).toBeUndefined()
    const before = Date.now() / 1_000 - 1
    const path = join(server.folder, 'plants.db')
    expect(await runOn(path, ['backup', join(server.folder, 'b.db')])).toMatchObject({ code: 0 })
    const time = (await server.scrape()).get(METRIC)
    expect(time).toBeGreaterThan(before)
    expect(time).toBeLessThanOrEqual(Date.now() / 1_000)
    const note = `${path}.last-backup`
    expect(statSync(note).mode & 0o777).toBe(0o600)
    const { finishedAt, ...rest } = JSON.parse(readFileSync(note, 'utf8'))
    expect(Date.parse(finishedAt) / 1_000).toBe(time)
    expect(rest).toEqual({ file: join(server.folder, 'b.db'), plants: 0 })

    writeFileSync(note, '{')
    expect((await server.scrape()).get(METRIC)).toBeUndefined()
  })

  test('stays what it was when a backup fails', async () => {
    const { folder, path, target, backUp } = arrange()
    await makeStore(path, spreadPlants(20))
    await backUp(target)
    const note = readFileSync(`${path}.last-backup`)
    expect((await backUp(target)).code).toBe(73)
    expect((await backUp(join(folder, 'none/new.db'))).code).toBe(73)
    expect(readFileSync(`${path}.last-backup`).equals(note)).toBe(true)
  })
})
