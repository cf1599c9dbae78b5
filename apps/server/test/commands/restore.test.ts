import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { startServerProcess } from '../../../../test/server-process.ts'
import { restoreStore } from '../../src/sqlite/backup.ts'
import {
  addPlants,
  contentOf,
  damage,
  execute,
  makeStore,
  namesIn,
  spreadPlants,
  takeSchemaBack,
} from './plants.ts'
import { arrange as arrangePlace, ends, runOn } from './program.ts'

async function arrange() {
  const place = await arrangePlace(500)
  const backup = place.at('backup.db')
  const target = place.at('new/plants.db')
  await place.run('token create --name greenhouse')
  await place.run(`backup ${backup}`)
  return { ...place, backup, target, restore: () => runOn(target, `restore ${backup}`) }
}

const DIGEST =
  "CREATE TABLE backup_digest (sha256 BLOB NOT NULL) STRICT; INSERT INTO backup_digest VALUES (x'00')"

const NEWEST = { names: 'migrations plants tokens' }

describe('restore', () => {
  test('makes a store that is missing, with its tokens', async () => {
    const { path, target, restore } = await arrange()
    const { code, err } = await restore()
    expect(code).toBe(0)
    expect(err).toContain('plants.db holds 500 plants and 1 token of ')
    expect(err).toContain('revoke again the tokens that were revoked since')
    expect(contentOf(target)).toEqual(contentOf(path))
    expect(readdirSync(join(target, '..'))).toEqual(['plants.db'])
    expect((await runOn(target, 'token list')).out).toContain('greenhouse')
  })

  test('brings an older schema to the newest, without the digest that it carried', async () => {
    const { backup, target, restore } = await arrange()
    takeSchemaBack(backup)
    execute(backup, DIGEST)
    expect(await restore()).toMatchObject({ code: 0 })
    expect([contentOf(target).count, namesIn(target)]).toEqual([500, NEWEST])
  })

  test('is not needed where a backup of an earlier version is put in place by hand', async () => {
    const { path, backup } = await arrange()
    execute(backup, DIGEST)
    expect(await runOn(backup, 'token create --name x')).toMatchObject({ code: 0 })
    expect([contentOf(backup), namesIn(backup)]).toEqual([contentOf(path), NEWEST])
  })

  test('takes a copy whose last plants are still in its write-ahead log', async () => {
    const { at, target } = await arrange()
    await makeStore(at('copy.db'), [])
    const writer = new DatabaseSync(at('copy.db'))
    writer.exec("INSERT INTO plants VALUES (1, 'in the log', NULL)")
    expect(await runOn(target, `restore ${at('copy.db')}`)).toMatchObject({ code: 0 })
    writer.close()
    expect(contentOf(target).count).toBe(1)
  })
})

describe('restore is refused, and everything stays as it was', () => {
  test.each([
    ['a store with plants', '', (path: string) => makeStore(path, spreadPlants(1))],
    ['a store without plants', '', (path: string) => makeStore(path, [])],
    ['an empty file', '', (path: string) => writeFileSync(path, '')],
    ['a log whose database is gone', '-wal', (path: string) => writeFileSync(`${path}-wal`, 'x')],
  ])('beside %s', async (_what, end, make) => {
    const { folder, at, backup } = await arrange()
    const taken = at(`taken.db${end}`)
    await make(at('taken.db'))
    const before = readFileSync(taken)
    const says = `${taken} exists already, and restore never replaces a file. Try: stop the server, move`
    expect(await runOn(at('taken.db'), `restore ${backup}`)).toEqual(ends(69, says))
    expect(readFileSync(taken)).toEqual(before)
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([])
  })

  test('where a server made the file meanwhile', async () => {
    const { folder, at, backup } = await arrange()
    const target = at('late.db')
    const signal = Object.assign(new EventTarget() as AbortSignal, {
      throwIfAborted: () => writeFileSync(target, 'letters'),
    })
    await expect(restoreStore(backup, target, { signal })).rejects.toThrow('EEXIST')
    expect(readFileSync(target, 'utf8')).toBe('letters')
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([])
  })

  const cutShort = (file: string) => truncateSync(file, statSync(file).size - 4096)
  test.each<[how: string, change: (file: string) => void, code: number, says: RegExp]>([
    ['empty', (file) => truncateSync(file), 69, /there is no plant store in .*backup\.db/],
    ['missing', (file) => rmSync(file), 66, /cannot read .*backup\.db: there is no such file/],
    ['cut short', cutShort, 69, /backup\.db (?:is corrupt|cannot be read)/],
    ['no database', (file) => writeFileSync(file, 'x'.repeat(9999)), 69, /cannot be read as a/],
    ['damaged inside', damage, 69, /backup\.db is corrupt .* Try: another backup/],
  ])('where the backup is %s', async (_how, change, code, says) => {
    const { at, backup, restore } = await arrange()
    change(backup)
    expect(await restore()).toEqual(ends(code, says))
    expect(existsSync(at('new'))).toBe(false)
  })

  test('where a signal stops it', async () => {
    const { at, backup, target } = await arrange()
    const stop = AbortSignal.abort('SIGTERM')
    expect(await runOn(target, `restore ${backup}`, { stop })).toEqual(
      ends(75, 'Nothing was restored'),
    )
    expect(existsSync(at('new'))).toBe(false)
  })
})

/** What makes each state of a store that was closed by a kill, so that its log is there. */
test.each<[state: string, says: string, make: (path: string) => void]>([
  ['a database that is gone', 'is missing but', rmSync],
  ['damaged pages', 'is corrupt', damage],
])('after %s every plant of the backup comes back', async (_state, says, make) => {
  const { folder, path, shell } = await arrangePlace()
  const server = await startServerProcess({ folder })
  addPlants(path, spreadPlants(2_000))
  const backedUp = await shell('server backup backup.db && server export')
  await server.end('SIGKILL')
  make(path)
  expect(await shell('server backup another.db')).toMatchObject(ends(69, says))
  const again = await shell(
    'mkdir aside && mv data/plants.db* aside && server restore backup.db && server export',
  )
  expect(again).toMatchObject({ code: 0, out: backedUp.out })
})
