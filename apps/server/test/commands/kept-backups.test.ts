import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startScrapedServer } from '../telemetry/scraped-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { contentOf, execute, makeStore, query, spreadPlants } from './plants.ts'
import { runOn } from './program.ts'
import { runShell } from './shell.ts'

async function arrange() {
  const folder = temporaryFolder()
  const path = join(folder, 'plants.db')
  await makeStore(path, spreadPlants(20))
  const backups = join(folder, 'backups')
  /** Makes a backup, and gives it the name of another day. */
  async function backUpAt(time: string, from = path): Promise<string> {
    const name = join(backups, `plants-${time}T03-00-00Z.db`)
    const { code, err } = await runOn(from, `backup --folder ${backups}`)
    expect({ code, err }).toMatchObject({ code: 0 })
    const [, made = ''] = /^(\S+) holds /.exec(err) ?? []
    renameSync(made, name)
    return name
  }
  const keep = (count: number) => runOn(path, `backup --folder ${backups} --keep ${count}`)
  return { folder, path, backups, backUpAt, keep }
}

/** Changes one letter inside a name, which SQLite cannot notice. */
function flipLetter(file: string): void {
  const bytes = readFileSync(file)
  const at = bytes.indexOf('plant "7"')
  expect(at).toBeGreaterThan(0)
  bytes[at] = 'q'.charCodeAt(0)
  writeFileSync(file, bytes)
}

describe('backup --verify', () => {
  test('reads a backup to its last byte, says what it holds, and changes nothing', async () => {
    const { folder, path } = await arrange()
    const backup = join(folder, 'backup.db')
    await runOn(path, `backup ${backup}`)
    const before = [readdirSync(folder), readFileSync(backup), statSync(backup).mtimeMs]
    const { code, out } = await runOn(path, `backup --verify ${backup}`)
    expect(code).toBe(0)
    expect(out).toContain('backup.db is good: 20 plants and 0 tokens, schema version 2.')
    const { sha256 } = query(
      backup,
      'SELECT lower(hex(sha256)) AS sha256 FROM backup_digest',
    ) as Record<string, string>
    expect(out).toContain(`They match its digest: ${sha256}\n`)
    expect(out).toMatch(/Read [\d.]+ [kM]?B in [\d.]+ s/)
    expect([readdirSync(folder), readFileSync(backup), statSync(backup).mtimeMs]).toEqual(before)
  })

  test('notices one changed letter, a lost end and a file that is not there', async () => {
    const { folder, path } = await arrange()
    const backup = join(folder, 'backup.db')
    await runOn(path, `backup ${backup}`)
    const short = join(folder, 'short.db')
    writeFileSync(short, readFileSync(backup).subarray(0, -4_096))
    flipLetter(backup)
    expect(await runOn(path, `backup --verify ${backup}`)).toMatchObject({
      code: 69,
      out: '',
      err: expect.stringContaining('another SHA-256 than it had then. Try: another backup'),
    })
    expect(await runOn(path, `backup --verify ${short}`)).toMatchObject({ code: 69, out: '' })
    expect((await runOn(path, 'backup --verify /nowhere.db')).code).toBe(66)
  })

  test('says that a store carries no digest', async () => {
    const { path } = await arrange()
    const { code, out } = await runOn(path, `backup --verify ${path}`)
    expect(code).toBe(0)
    expect(out).toContain('It carries no digest')
  })
})

describe('backup --folder', () => {
  test('makes the folder and a file named by the store and the time', async () => {
    const { path, backups } = await arrange()
    const { code, err } = await runOn(path, `backup --folder ${backups}`)
    expect(code).toBe(0)
    expect(err).toMatch(/Copied [\d.]+ [kM]?B in [\d.]+ s/)
    const [name = '', ...others] = readdirSync(backups)
    expect(others).toEqual([])
    expect(name).toMatch(/^plants-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/)
    expect(statSync(backups).mode & 0o777).toBe(0o700)
    expect(contentOf(join(backups, name))).toEqual(contentOf(path))
  })

  test('--keep deletes the oldest, and never the new one, whatever the clock said before', async () => {
    const { backups, backUpAt, keep } = await arrange()
    const old = await backUpAt('2001-01-01')
    const young = await backUpAt('2001-01-02')
    const future = await backUpAt('2999-01-01')
    const { code, err } = await keep(3)
    expect(code).toBe(0)
    expect(err).toContain(`Deleted ${old}.`)
    expect([old, young, future].map((file) => existsSync(file))).toEqual([false, true, true])
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect((await keep(1)).code).toBe(0)
    expect(readdirSync(backups)).toHaveLength(1)
    expect(readdirSync(backups)[0]).not.toMatch(/2001|2999/)
  })

  test('--keep leaves alone what is no good backup of this store by its name and content', async () => {
    const { folder, backups, backUpAt, keep } = await arrange()
    const damaged = await backUpAt('2001-01-01')
    flipLetter(damaged)
    const undigested = await backUpAt('2001-01-02')
    execute(undigested, 'DROP TABLE backup_digest')
    const other = join(folder, 'other/plants.db')
    await makeStore(other, spreadPlants(3))
    const ofAnother = await backUpAt('2001-01-03', other)
    const letters = join(backups, 'plants-2001-01-04T03-00-00Z.db')
    writeFileSync(letters, 'letters')
    const named = join(backups, 'plants-before-the-move.db')
    copyFileSync(await backUpAt('2001-01-05'), named)
    const { code, err } = await keep(1)
    expect(code).toBe(0)
    expect(err).toContain(`${damaged} stays, because it is no good backup: `)
    expect(err).toContain(`${undigested} stays, because it carries no digest`)
    expect(err).toContain(`${ofAnother} stays, because it is a backup of another store`)
    expect(err).toContain(`${letters} stays, because it is no good backup: `)
    expect([damaged, undigested, ofAnother, letters, named].every(existsSync)).toBe(true)
    expect(readdirSync(backups)).toHaveLength(6)
  })

  test('deletes nothing where the new backup cannot be made', async () => {
    const { path, backups, backUpAt, keep } = await arrange()
    await backUpAt('2001-01-01')
    await backUpAt('2001-01-02')
    writeFileSync(path, 'letters')
    expect((await keep(1)).code).toBe(69)
    expect(readdirSync(backups)).toHaveLength(2)
  })

  test.each([
    'backup',
    'backup a.db --folder b',
    'backup a.db --keep 7',
    'backup --folder b --verify',
    'backup --folder b --keep 0',
  ])('is refused as %s', async (command) => {
    const { path } = await arrange()
    const { code, err } = await runOn(path, command)
    expect(code).toBe(78)
    expect(err).toMatch(/Try: |from 1 to 9999/)
  })
})

describe('the last good backup', () => {
  const METRIC = 'plant_store_last_backup_timestamp_seconds'

  test('is noted beside the store, and a server that runs says its time', async () => {
    const server = await startScrapedServer()
    expect((await server.scrape()).get(METRIC)).toBeUndefined()
    const before = Date.now() / 1_000 - 1
    const url = `--database-url sqlite:${join(server.folder, 'plants.db')}`
    expect(await runShell(server.folder, `server backup ${url} --folder b`)).toMatchObject({
      code: 0,
    })
    const time = (await server.scrape()).get(METRIC)
    expect(time).toBeGreaterThan(before)
    expect(time).toBeLessThanOrEqual(Date.now() / 1_000)
    const note = join(server.folder, 'plants.db.last-backup')
    expect(statSync(note).mode & 0o777).toBe(0o600)
    const { finishedAt, file, plants, sha256 } = JSON.parse(readFileSync(note, 'utf8'))
    expect(Date.parse(finishedAt) / 1_000).toBe(time)
    expect(plants).toBe(0)
    expect((await runShell(server.folder, `server backup --verify ${file}`)).out).toContain(sha256)

    writeFileSync(note, '{')
    expect((await server.scrape()).get(METRIC)).toBeUndefined()
  })

  test('stays what it was when a backup fails', async () => {
    const { folder, path, keep } = await arrange()
    await keep(1)
    const note = readFileSync(`${path}.last-backup`)
    writeFileSync(join(folder, 'taken.db'), '')
    expect((await runOn(path, `backup ${join(folder, 'taken.db')}`)).code).toBe(73)
    expect((await runOn(path, `backup ${join(folder, 'none/new.db')}`)).code).toBe(73)
    expect(readFileSync(`${path}.last-backup`).equals(note)).toBe(true)
  })
})
