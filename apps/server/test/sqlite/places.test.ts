import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../../test/needs.ts'
import { MAIN, startProgram } from '../../../../test/start-program.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { makeStore, spreadPlants } from '../commands/plants.ts'
import { runOn } from '../commands/program.ts'

/** Root may write everywhere, so that it runs the program as another user: nobody. */
const uid = process.getuid?.() === 0 ? 65_534 : undefined

const identity = uid === undefined ? {} : { uid, gid: uid }

/** Not where nobody cannot read the program. */
const needsOtherUser = needs(
  'a clone that the user nobody may read',
  spawnSync(process.execPath, [MAIN, '--help'], identity).status === 0,
)

/** As `runOn`, in a process of its own. */
function runProcess(path: string, args: readonly string[], as = identity) {
  const words = [process.execPath, MAIN, ...args, '--database-url', `sqlite:${path}`]
  return startProgram(words, { cwd: '/', env: { PATH: process.env.PATH }, ...as }).ended
}

const STACK = /^ {4}at /m

describe('a place where no store can be', () => {
  test.each(['serve', 'token list', 'migrate'])('is refused by `%s`', async (command) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'file'), 'letters of somebody')
    const noFolder =
      command === 'migrate' ? `${join(folder, 'file')} is no folder` : 'there is no plant store in'
    for (const [path, reason] of [
      [join(folder, 'file/plants.db'), noFolder],
      [join(folder, 'file/deeper/plants.db'), noFolder],
      [folder, 'it is a folder'],
      ['/dev/null', 'it is no plain file'],
    ] as const) {
      const { code, err } = await runOn(path, command)
      expect({ path, code, err }).toMatchObject({ code: 69, err: expect.stringContaining(reason) })
      expect(err).toMatch(/Try: /)
      expect(err).not.toMatch(STACK)
    }
    expect(readdirSync(folder)).toEqual(['file'])
  })

  test.each([
    ['migrate', 69],
    ['restore backup.db', 73],
  ])(
    'is reported by `%s` on a file system that takes no folders',
    async (command, expected) => {
      const backup = join(temporaryFolder(), 'backup.db')
      await makeStore(backup, spreadPlants(1))
      const args = command.replace('backup.db', backup).split(' ')
      const { code, err } = await runProcess('/proc/none/deeper/plants.db', args, {})
      expect({ code, err }).toEqual({ code: expected, err: expect.stringMatching(/ENOENT|EACCES/) })
      expect(err).not.toMatch(STACK)
    },
    120_000,
  )
})

describe('for a user who may not write', needsOtherUser, () => {
  /** A store that belongs to the user who runs the program, in a folder of a folder. */
  async function arrange() {
    const folder = temporaryFolder()
    const data = join(folder, 'data')
    const path = join(data, 'plants.db')
    mkdirSync(data)
    await makeStore(path, spreadPlants(1))
    if (uid !== undefined) for (const own of [folder, data, path]) chownSync(own, uid, uid)
    return folder
  }

  test('a store that is theirs opens', async () => {
    const path = join(await arrange(), 'data/plants.db')
    expect(await runProcess(path, ['token', 'list'])).toMatchObject({ code: 0 })
  })

  test.each([
    ['new/plants.db', 'migrate', '', 0o555],
    ['plants.db', 'migrate', '', 0o555],
    ['data/plants.db', 'serve', 'data', 0o555],
    ['data/plants.db', 'token list', 'data', 0o555],
    ['data/plants.db', 'export', 'data', 0o555],
    ['data/plants.db', 'token list', 'data/plants.db', 0o444],
    ['data/plants.db', 'token list', 'data/plants.db', 0],
    ['data/plants.db', 'export', 'data/plants.db', 0],
    ['data/plants.db', 'export', 'data', 0],
  ])('%s is refused by `%s` where "%s" has the mode %o', async (place, command, obstacle, mode) => {
    const folder = await arrange()
    const restricted = join(folder, obstacle)
    chmodSync(restricted, mode)
    onTestFinished(() => chmodSync(restricted, 0o755))
    const { code, err } = await runProcess(join(folder, place), command.split(' '))
    expect(code).toBe(69)
    // A folder that may not be searched hides what is in it.
    const isHidden = obstacle === 'data' && mode === 0
    expect(err).toContain(
      isHidden ? 'EACCES' : `${restricted.replace(/\/$/, '')} cannot be used by user`,
    )
    if (!isHidden) expect(err).toMatch(/ by user \S.* Try: let this user write/)
    expect(err).not.toMatch(STACK)
  })
})
