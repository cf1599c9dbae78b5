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
import { restoreStore } from '../../src/sqlite/backup.ts'
import { startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import {
  addPlants,
  contentOf,
  damage,
  execute,
  makeStore,
  query,
  spreadPlants,
  takeSchemaBack,
} from './plants.ts'
import { runOn } from './program.ts'
import { runShell } from './shell.ts'

async function arrange(plants = 500) {
  const folder = temporaryFolder()
  const source = join(folder, 'source.db')
  const backup = join(folder, 'backup.db')
  const target = join(folder, 'new/plants.db')
  await makeStore(source, spreadPlants(plants))
  await runOn(source, 'token create --name greenhouse')
  await runOn(source, `backup ${backup}`)
  return { folder, source, backup, target, restore: () => runOn(target, `restore ${backup}`) }
}

const DIGEST =
  "CREATE TABLE backup_digest (sha256 BLOB NOT NULL) STRICT; INSERT INTO backup_digest VALUES (x'00')"

const NEWEST =
  "SELECT group_concat(name, ' ' ORDER BY name) AS tables FROM sqlite_schema WHERE type = 'table'"

describe('restore', () => {
  test('makes a store that is missing, with its tokens', async () => {
    const { source, target, restore } = await arrange()
    const { code, err } = await restore()
    expect(code).toBe(0)
    expect(err).toContain('plants.db holds 500 plants and 1 token of ')
    expect(err).toContain('revoke again the tokens that were revoked since')
    expect(contentOf(target)).toEqual(contentOf(source))
    expect(readdirSync(join(target, '..'))).toEqual(['plants.db'])
    expect((await runOn(target, ['token', 'list'])).out).toContain('greenhouse')
  })

  test('brings an older schema to the newest, without the digest that it carried', async () => {
    const { backup, target, restore } = await arrange()
    takeSchemaBack(backup)
    execute(backup, DIGEST)
    expect(await restore()).toMatchObject({ code: 0 })
    expect(contentOf(target).count).toBe(500)
    expect(query(target, NEWEST)).toEqual({ tables: 'migrations plants tokens' })
  })

  test('is not needed where a backup of an earlier version is put in place by hand', async () => {
    const { source, backup } = await arrange()
    execute(backup, DIGEST)
    expect(await runOn(backup, 'token create --name x')).toMatchObject({ code: 0 })
    expect(contentOf(backup)).toEqual(contentOf(source))
    expect(query(backup, NEWEST)).toEqual({ tables: 'migrations plants tokens' })
  })

  test('takes a copy whose last plants are still in its write-ahead log', async () => {
    const { folder, target } = await arrange()
    const copy = join(folder, 'copy.db')
    await makeStore(copy, [])
    const writer = new DatabaseSync(copy)
    writer.exec("INSERT INTO plants VALUES (1, 'in the log', NULL)")
    expect(await runOn(target, ['restore', copy])).toMatchObject({ code: 0 })
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
    const { folder, backup } = await arrange()
    const target = join(folder, 'taken.db')
    await make(target)
    const before = readFileSync(target + end)
    const { code, err } = await runOn(target, `restore ${backup}`)
    expect(code).toBe(69)
    expect(err).toContain(
      `${target}${end} exists already, and restore never replaces a file. Try: stop the server, move`,
    )
    expect(readFileSync(target + end)).toEqual(before)
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([])
  })

  test('where a server made the file meanwhile', async () => {
    const { folder, backup } = await arrange()
    const target = join(folder, 'late.db')
    const signal = Object.assign(new EventTarget() as AbortSignal, {
      throwIfAborted: () => writeFileSync(target, 'letters'),
    })
    await expect(restoreStore(backup, target, { signal })).rejects.toThrow('EEXIST')
    expect(readFileSync(target, 'utf8')).toBe('letters')
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([])
  })

  test.each<[string, (file: string) => void, RegExp]>([
    ['missing', (file) => truncateSync(file), /there is no plant store in .*backup\.db/],
    [
      'cut short',
      (file) => truncateSync(file, statSync(file).size - 4096),
      /backup\.db (?:is corrupt|cannot be read)/,
    ],
    ['no database', (file) => writeFileSync(file, 'x'.repeat(9999)), /cannot be read as a plant/],
    ['damaged inside', damage, /backup\.db is corrupt .* Try: another backup/],
  ])('where the backup is %s', async (_how, change, message) => {
    const { folder, backup, restore } = await arrange()
    change(backup)
    const { code, err } = await restore()
    expect(code).toBe(69)
    expect(err).toMatch(message)
    expect(existsSync(join(folder, 'new'))).toBe(false)
  })

  test('where a signal stops it', async () => {
    const { backup, target } = await arrange()
    const stop = AbortSignal.abort('SIGTERM')
    expect(await runOn(target, `restore ${backup}`, { stop })).toMatchObject({
      code: 75,
      err: expect.stringContaining('Nothing was restored'),
    })
    expect(existsSync(join(target, '..'))).toBe(false)
  })

  test('where there is no such backup', async () => {
    const { target } = await arrange()
    expect(await runOn(target, ['restore', '/nowhere/backup.db'])).toMatchObject({ code: 66 })
  })
})

/** What makes each state of a store that was closed by a kill, so that its log is there. */
const losses: [state: string, says: string, make: (path: string) => unknown][] = [
  ['a database that is gone', 'is missing but', (path) => rmSync(path)],
  ['a database that is empty', 'is empty but', (path) => truncateSync(path)],
  [
    'an overwritten beginning',
    'cannot be read as a plant store',
    (path) => {
      execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)')
      writeFileSync(path, readFileSync(path).fill(0xa5, 0, 4_096))
    },
  ],
  ['damaged pages', 'is corrupt', damage],
  [
    'a database of another program',
    'is a database of another program',
    (path) => {
      for (const end of ['', '-wal', '-shm']) rmSync(path + end)
      execute(path, 'CREATE TABLE letters (text)')
    },
  ],
  [
    'a trigger that nobody knows',
    'is not as this program made it',
    (path) =>
      execute(path, 'CREATE TRIGGER w BEFORE INSERT ON plants BEGIN SELECT RAISE(IGNORE); END'),
  ],
]

test.each(losses)('after %s every plant of the backup comes back', async (_state, says, make) => {
  const folder = temporaryFolder()
  const server = await startServerProcess({ folder })
  addPlants(join(folder, 'data/plants.db'), spreadPlants(2_000))
  const backedUp = await runShell(folder, 'server backup backup.db && server export')
  await server.end('SIGKILL')
  await make(join(folder, 'data/plants.db'))
  const shown = await runShell(folder, 'server backup another.db')
  expect(shown).toMatchObject({ code: 69, err: expect.stringContaining(says) })
  const line =
    'mkdir aside && mv data/plants.db* aside && server restore backup.db && server export'
  const { code, out } = await runShell(folder, line)
  expect({ code, isSame: out === backedUp.out }).toEqual({ code: 0, isSame: true })
})
