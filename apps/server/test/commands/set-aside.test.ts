import { spawnSync } from 'node:child_process'
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { MAIN } from '../process/main.ts'
import { startServerProcess } from '../process/server-process.ts'
import { needsStrace } from '../process/system-calls.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { contentOf, execute, makeStore, spreadPlants } from './plants.ts'
import { runOn } from './program.ts'
import { runShell } from './shell.ts'

/** A backup of 50 plants, and a store that got one more since, which is still in its log. */
async function arrange() {
  const folder = temporaryFolder()
  const path = join(folder, 'plants.db')
  const backup = join(folder, 'backup.db')
  await makeStore(path, spreadPlants(50))
  expect(await runOn(path, `backup ${backup}`)).toMatchObject({ code: 0 })
  leaveLog(path)
  const restore = (flags = '--set-aside') => runOn(path, `restore ${backup} ${flags}`.trim())
  return { folder, path, backup, restore }
}

/** Adds a plant as a server that was killed leaves it: in the log alone. */
function leaveLog(path: string): void {
  const writer = new DatabaseSync(path)
  writer.exec("PRAGMA journal_mode = wal; INSERT INTO plants VALUES (7, 'in the log', NULL)")
  for (const end of ['', '-wal']) writeFileSync(`${path}${end}.kept`, readFileSync(path + end))
  writer.close()
  for (const end of ['', '-wal']) renameSync(`${path}${end}.kept`, path + end)
}

function setAsideIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.includes('set-aside'))
}

const TIME = /^plants\.db\.set-aside-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ/

const states: [string, (path: string) => void, string][] = [
  ['holds plants', () => {}, 'holds 51 plants, and restore never replaces one'],
  ['is deleted, and its log is not', (path) => rmSync(path), 'plants.db is missing but'],
  ['is empty, and its log is not', (path) => truncateSync(path), 'plants.db is empty but'],
  [
    'has an overwritten header',
    (path) => {
      writeFileSync(path, Buffer.concat([Buffer.alloc(4_096, 0xff), readFileSync(path)]))
    },
    'cannot be read as a plant store',
  ],
  [
    'is of another program',
    (path) => {
      for (const end of ['', '-wal']) rmSync(path + end)
      execute(path, 'CREATE TABLE letters (text)')
    },
    'is a database of another program',
  ],
]

describe('a store that', () => {
  test.each(states)('%s is set aside, whole and as it was', async (_state, destroy, refusal) => {
    const { folder, path, backup, restore } = await arrange()
    destroy(path)
    const before = ['', '-wal']
      .filter((end) => existsSync(path + end))
      .map((end) => [end, readFileSync(path + end)] as const)
    const refused = await restore('')
    expect(refused.code).toBe(69)
    expect(refused.err).toContain(refusal)
    const { code, err } = await restore()
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('is kept as') })
    expect(contentOf(path)).toEqual(contentOf(backup))
    const [first = ''] = setAsideIn(folder).toSorted()
    const name = TIME.exec(first)?.[0] ?? 'none'
    expect(setAsideIn(folder).every((other) => other.startsWith(name))).toBe(true)
    for (const [end, bytes] of before) {
      expect(readFileSync(join(folder, name + end)).equals(bytes), `${name}${end}`).toBe(true)
    }
    expect(readdirSync(folder).filter((other) => /partial|restoring/.test(other))).toEqual([])
  })

  test('was set aside is a backup of itself: the same command brings it back', async () => {
    const { folder, path, restore } = await arrange()
    await restore()
    expect(contentOf(path).count).toBe(50)
    const [old = ''] = setAsideIn(folder).toSorted()
    expect(await runOn(path, `restore ${join(folder, old)} --set-aside`)).toMatchObject({ code: 0 })
    expect(contentOf(path).count).toBe(51)
    expect(setAsideIn(folder).filter((name) => TIME.exec(name)?.[0] === name)).toHaveLength(2)
  })

  test('is not there needs nothing set aside', async () => {
    const { folder, path, restore } = await arrange()
    for (const end of ['', '-wal']) rmSync(path + end)
    expect((await restore()).err).not.toContain('is kept as')
    expect(setAsideIn(folder)).toEqual([])
    expect(contentOf(path).count).toBe(50)
  })

  test('has a bad backup stays where it is', async () => {
    const { folder, path, backup, restore } = await arrange()
    truncateSync(backup, 8_192)
    const before = readdirSync(folder).toSorted()
    const { code, err } = await restore()
    expect(code).toBe(69)
    expect(err).toContain('Try: another backup')
    expect((await runOn(path, `restore ${path} --set-aside`)).err).toContain('is the store itself')
    expect(readdirSync(folder).toSorted()).toEqual(before)
  })
})

describe('a store that a server has open is never set aside', () => {
  test.each<[string, (path: string) => void]>([
    ['by its locks', () => {}],
    ['nor its log, when its database is gone', (path) => rmSync(path)],
    ['nor what was written over it', (path) => writeFileSync(path, 'letters')],
  ])('%s', async (_how, destroy) => {
    const folder = temporaryFolder()
    const path = join(folder, 'data/plants.db')
    const server = await startServerProcess({ folder })
    await server.client.createPlant({ id: 1, name: 'Fern' })
    expect(await runShell(folder, 'server backup backup.db')).toMatchObject({ code: 0 })
    destroy(path)
    const before = readdirSync(join(folder, 'data'))
    const refused = await runShell(folder, 'server restore backup.db --set-aside')
    expect(refused.code).toBe(69)
    expect(refused.err).toContain('is open in another process')
    expect(readdirSync(join(folder, 'data'))).toEqual(before)
    await server.kill('SIGTERM')
    const { code } = await runShell(folder, 'server restore backup.db --set-aside')
    expect(code).toBe(0)
    expect(contentOf(path).count).toBe(1)
  })
})

describe('a restore that is killed', needsStrace, () => {
  /** Kills the program as it begins its nth change of a name; whether there was one. */
  function killAtRename(count: number, path: string, backup: string): boolean {
    const program = [process.execPath, MAIN, 'restore', backup, '--set-aside']
    const inject = ['-e', 'trace=rename', '-e', `inject=rename:signal=SIGKILL:when=${count}`]
    const { signal, status } = spawnSync(
      'strace',
      ['-f', '-o', '/dev/null', ...inject, ...program],
      {
        env: { PATH: process.env.PATH, PLANT_STORE_DATABASE_URL: `sqlite:${path}` },
      },
    )
    return signal === 'SIGKILL' || (status ?? 0) > 128
  }

  test('before any change of a name leaves the old store, or what the same command ends', async () => {
    const states: string[] = []
    for (let count = 1; ; count++) {
      const { folder, path, backup, restore } = await arrange()
      if (!killAtRename(count, path, backup)) break
      const isBegun = existsSync(`${path}.restoring`)
      states.push(isBegun ? 'begun' : 'old')
      // Nothing opens half a store, and nothing takes its place meanwhile.
      const opened = await runOn(path, 'token list')
      expect(opened.code).toBe(isBegun ? 69 : 0)
      if (isBegun) expect(opened.err).toMatch(/Try: .* restore .*BACKUP --set-aside$/m)
      expect((await restore()).code).toBe(0)
      expect(contentOf(path)).toEqual(contentOf(backup))
      const [name = ''] = setAsideIn(folder).toSorted()
      expect(contentOf(join(folder, name)).count).toBe(51)
      expect(existsSync(`${path}.restoring`)).toBe(false)
    }
    expect(states).toEqual(['old', 'begun', 'begun', 'begun'])
  }, 60_000)
})
