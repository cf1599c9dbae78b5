import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { contentOf, makeStore, spreadPlants } from '../commands/plants.ts'
import { runOn } from '../commands/program.ts'

/** A folder of data with a relative link, through another link, to where the file is or will be. */
function arrangeLink() {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'real'))
  mkdirSync(join(folder, 'data'))
  symlinkSync('../real', join(folder, 'data/elsewhere'))
  symlinkSync('elsewhere/plants.db', join(folder, 'data/plants.db'))
  return { folder, link: join(folder, 'data/plants.db'), real: join(folder, 'real/plants.db') }
}

describe('a database that is named by a link', () => {
  test('is refused when it is gone and its log is not, which stays as it was', async () => {
    const { folder, link, real } = arrangeLink()
    const backup = join(folder, 'backup.db')
    for (const path of [link, backup]) await makeStore(path, spreadPlants(1))
    renameSync(real, `${real}-wal`)
    const log = readFileSync(`${real}-wal`)
    const copies = [`backup ${join(folder, 'new.db')}`, `restore ${backup}`]
    for (const command of ['serve', 'token list', 'export', 'migrate', 'doctor', ...copies]) {
      const ended = { command, ...(await runOn(link, command)) }
      expect(ended).toMatchObject({ command, code: 69, err: expect.stringContaining('-wal') })
    }
    expect(existsSync(real)).toBe(false)
    expect(readFileSync(`${real}-wal`).equals(log)).toBe(true)
  })

  test('is made, backed up and restored where the link leads', async () => {
    const { folder, link, real } = arrangeLink()
    await makeStore(link, spreadPlants(10))
    expect(existsSync(real)).toBe(true)
    expect((await runOn(link, `backup ${join(folder, 'backup.db')}`)).code).toBe(0)
    const before = contentOf(real)
    rmSync(real)
    expect((await runOn(link, `restore ${join(folder, 'backup.db')}`)).code).toBe(0)
    expect(contentOf(real)).toEqual(before)
  })

  test('is refused where links lead in a circle', async () => {
    const folder = temporaryFolder()
    symlinkSync('two', join(folder, 'one'))
    symlinkSync('one', join(folder, 'two'))
    const { code, err } = await runOn(join(folder, 'one/plants.db'), 'export')
    expect({ code, err }).toMatchObject({ code: 69, err: expect.stringContaining('ELOOP') })
  })

  test('under a name of its own is no link to a log of that name', async () => {
    const { folder, link } = arrangeLink()
    writeFileSync(`${link}-wal`, 'notes of somebody')
    expect((await runOn(link, 'migrate')).code).toBe(0)
    expect(readFileSync(join(folder, 'data/plants.db-wal'), 'utf8')).toBe('notes of somebody')
  })
})
