import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startServerProcess } from '../../../../test/server-process.ts'
import { readPlants } from '../../../../test/sqlite-file.ts'
import { startStorm } from '../postgres/storm.ts'
import { startScrapedServer } from '../telemetry/scraped-server.ts'
import { contentOf, damage, query } from './plants.ts'
import { arrange as arrangePlace, ends, runOn, until } from './program.ts'
import { startShell } from './shell.ts'

async function arrange(plants?: number) {
  const place = await arrangePlace(plants)
  const target = place.at('backup.db')
  return {
    ...place,
    target,
    backUp: (to = target, stop?: AbortSignal) => place.run(['backup', to], stop && { stop }),
    /** Whatever stands beside the folder of the store. */
    files: () => readdirSync(place.folder).filter((name) => name !== 'data'),
  }
}

describe('backup', () => {
  test('is one file with everything that the store holds, for its owner only', async () => {
    const { path, target, backUp, files } = await arrange(2_000)
    chmodSync(path, 0o640)
    const says = 'backup.db holds 2,000 plants and 0 tokens, was checked to its'
    expect(await backUp()).toEqual(ends(0, says, ''))
    expect(contentOf(target)).toEqual(contentOf(path))
    expect(statSync(target).mode & 0o777).toBe(0o600)
    expect(files()).toEqual(['backup.db'])
  })

  test('under load is whole, and holds every plant that was acknowledged before it', async () => {
    const { folder, path, target, shell } = await arrange()
    const { history, acknowledges, endAndJudge } = startStorm(await startServerProcess({ folder }))
    await acknowledges(200)
    const [before, storedBefore] = [history.storedIds(), history.stored]
    const { code } = await shell('server backup backup.db')
    expect(code).toBe(0)
    expect(history.stored).toBeGreaterThan(storedBefore)
    await endAndJudge(`sqlite:${path}`)
    expect(query(target, 'PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' })
    const { lost, altered, doubled } = history.judge(readPlants(target))
    expect(before.filter((id) => lost.includes(id))).toEqual([])
    expect({ altered, doubled }).toEqual({ altered: [], doubled: [] })
  })

  test('that is killed at any moment leaves no file under the final name, or a whole one', async () => {
    const { folder, at, files } = await arrange(150_000)
    const names = [0, 10, 25, 50].map((delayMs) => ({ delayMs, name: `backup-${delayMs}.db` }))
    for (const { delayMs, name } of names) {
      const { kill, ended } = startShell(folder, `server backup ${name}`)
      // Once the partial file is there, the copy is under way.
      await until(() => files().some((other) => other.startsWith(name)))
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      void kill()
      await ended
    }
    const finished = names.filter(({ name }) => existsSync(at(name)))
    expect(finished.length).toBeLessThan(names.length)
    for (const { name } of finished) expect(contentOf(at(name)).count).toBe(150_000)
  }, 60_000)

  test('never replaces a file, not even the store', async () => {
    const { path, target, backUp } = await arrange(1)
    writeFileSync(target, 'letters of somebody')
    for (const file of [target, path]) {
      const says = `${file} exists already, and nothing is ever replaced. Try: another`
      expect(await backUp(file)).toEqual(ends(73, says))
    }
    expect(readFileSync(target, 'utf8')).toBe('letters of somebody')
  })

  test('leaves nothing, and says why, where it is stopped or something is wrong', async () => {
    const { path, backUp, at, files } = await arrange(2_000)
    const stopped = await backUp(at('backup.db'), AbortSignal.abort('SIGTERM'))
    expect(stopped).toEqual(ends(75, 'stopped before the end. There is no backup'))
    expect(await backUp(at('none/b.db'))).toEqual(ends(73, /cannot make .*b\.db: ENOENT/))
    damage(path)
    const says = /plants\.db is corrupt \(.*\)\. Try: plant-store-server restore BACKUP/
    expect(await backUp()).toEqual(ends(69, says))
    expect(files()).toEqual([])
  })
})

describe('the last good backup', () => {
  const METRIC = 'plant_store_last_backup_timestamp_seconds'

  test('is noted beside the store, and a server that runs says its time', async () => {
    const { folder, scrape } = await startScrapedServer()
    expect((await scrape()).get(METRIC)).toBeUndefined()
    const before = Date.now() / 1_000 - 1
    const [path, file] = [join(folder, 'plants.db'), join(folder, 'b.db')]
    expect(await runOn(path, ['backup', file])).toMatchObject({ code: 0 })
    const time = (await scrape()).get(METRIC)
    expect(time).toBeGreaterThan(before)
    expect(time).toBeLessThanOrEqual(Date.now() / 1_000)
    const note = `${path}.last-backup`
    const { finishedAt, ...rest } = JSON.parse(readFileSync(note, 'utf8'))
    expect(Date.parse(finishedAt) / 1_000).toBe(time)
    expect(rest).toEqual({ file, plants: 0 })

    writeFileSync(note, '{')
    expect((await scrape()).get(METRIC)).toBeUndefined()
  })

  test('stays what it was when a backup fails', async () => {
    const { path, at, backUp } = await arrange(20)
    await backUp()
    const note = readFileSync(`${path}.last-backup`)
    expect(await backUp()).toMatchObject({ code: 73 })
    expect(await backUp(at('none/new.db'))).toMatchObject({ code: 73 })
    expect(readFileSync(`${path}.last-backup`).equals(note)).toBe(true)
  })
})
