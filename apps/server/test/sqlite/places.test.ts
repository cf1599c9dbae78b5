import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../../packages/client/runtimes/needs.ts'
import { makeStore, spreadPlants } from '../commands/plants.ts'
import { runProgram } from '../commands/program.ts'
import { MAIN } from '../process/main.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** Root may write everywhere, so that it runs the program as another user: nobody. */
const uid = process.getuid?.() === 0 ? 65_534 : undefined

const identity = uid === undefined ? {} : { uid, gid: uid }

/** Not where nobody cannot read the program. */
const needsOtherUser = needs(
  'a clone that the user nobody may read',
  spawnSync(process.execPath, [MAIN, '--help'], identity).status === 0,
)

function run(path: string, ...args: string[]) {
  return runProgram([...args, '--database-url', `sqlite:${path}`])
}

/** As `run`, in a process of its own, which is killed where it does not end. */
async function runProcess(path: string, args: readonly string[], as = identity) {
  const child = spawn(process.execPath, [MAIN, ...args, '--database-url', `sqlite:${path}`], {
    cwd: '/',
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 30_000,
    killSignal: 'SIGKILL',
    ...as,
  })
  let err = ''
  child.stderr.on('data', (chunk) => (err += chunk))
  const [code] = await once(child, 'close')
  return { code, err }
}

const STACK = /^ {4}at /m

describe('a place where no store can be', () => {
  test.each(['serve', 'token list', 'migrate'])('is refused by `%s`', async (command) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'file'), 'letters of somebody')
    for (const [path, reason] of [
      [join(folder, 'file/plants.db'), `${join(folder, 'file')} is no folder`],
      [join(folder, 'file/deeper/plants.db'), `${join(folder, 'file')} is no folder`],
      [folder, 'it is a folder'],
      ['/dev/null', 'it is no plain file'],
    ] as const) {
      const { code, err } = await run(path, ...command.split(' '))
      expect({ path, code, err }).toMatchObject({ code: 69, err: expect.stringContaining(reason) })
      expect(err).toMatch(/Try: /)
      expect(err).not.toMatch(STACK)
    }
    expect(readdirSync(folder)).toEqual(['file'])
  })

  test.each([
    ['token list', 69],
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

/** Takes permissions away until the test has finished. */
function restrict(path: string, mode: number): void {
  chmodSync(path, mode)
  onTestFinished(() => chmodSync(path, 0o755))
}

describe('for a user who may not write', needsOtherUser, () => {
  /** A store that belongs to the user who runs the program, in a folder of a folder. */
  async function arrange() {
    const folder = temporaryFolder()
    const data = join(folder, 'data')
    mkdirSync(data)
    await makeStore(join(data, 'plants.db'), spreadPlants(1))
    const path = join(data, 'plants.db')
    if (uid !== undefined) for (const own of [folder, data, path]) chownSync(own, uid, uid)
    return { folder, data, path }
  }

  async function expectRefusal(path: string, obstacle: string, command = 'token list') {
    const { code, err } = await runProcess(path, command.split(' '))
    expect({ code, err }).toMatchObject({ code: 69, err: expect.stringContaining(obstacle) })
    expect(err).toMatch(/ by user \S.* Try: let this user write/)
    expect(err).not.toMatch(STACK)
  }

  test('a store that is theirs opens', async () => {
    const { path } = await arrange()
    expect(await runProcess(path, ['token', 'list'])).toMatchObject({ code: 0 })
  })

  test('a new folder is refused', async () => {
    const { folder } = await arrange()
    restrict(folder, 0o555)
    await expectRefusal(join(folder, 'new/plants.db'), `${folder} cannot be used by user`)
  })

  test('a new file is refused', async () => {
    const { folder } = await arrange()
    restrict(folder, 0o555)
    await expectRefusal(join(folder, 'plants.db'), `${folder} cannot be used by user`)
  })

  test.each(['serve', 'token list', 'export'])('a folder is refused by `%s`', async (command) => {
    const { data, path } = await arrange()
    restrict(data, 0o555)
    await expectRefusal(path, `${data} cannot be used by user`, command)
  })

  test('a file is refused, and one that may not even be read', async () => {
    const { path } = await arrange()
    chmodSync(path, 0o444)
    await expectRefusal(path, `${path} cannot be used by user`)
    chmodSync(path, 0)
    await expectRefusal(path, `${path} cannot be used by user`)
    await expectRefusal(path, `${path} cannot be used by user`, 'export')
  })

  test('a folder that may not be searched is refused', async () => {
    const { data, path } = await arrange()
    restrict(data, 0)
    const { code, err } = await runProcess(path, ['export'])
    expect({ code, err }).toMatchObject({ code: 69, err: expect.stringContaining('EACCES') })
    expect(err).not.toMatch(STACK)
  })
})
