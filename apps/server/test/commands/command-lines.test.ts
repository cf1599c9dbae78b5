import { execFile } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../process/node-flags.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { ends } from './program.ts'

/** It looks whether the build is the newest, beside whatever else the machine does. */
const BUILD_MS = 180_000

/** What npm says of its own configuration comes before pnpm starts. */
const OF_NPM = /^npm warn .*\n/gm

type Environment = Readonly<Record<string, string | undefined>>

function runIn(cwd: string, env: Environment, program: string, ...args: string[]) {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, env }, (error, out, err) => {
      resolve({ code: error?.code ?? 0, out, err: err.replaceAll(OF_NPM, '') })
    })
  })
}

describe('in a clone', { timeout: BUILD_MS }, () => {
  function pnpm(...args: string[]) {
    const given = Object.entries(process.env).filter(([name]) => !/^(?:npm_|VITEST)/i.test(name))
    const npx = ['--prefer-offline', '-y', 'pnpm@12.16.0']
    return runIn(ROOT, Object.fromEntries(given), 'npx', ...npx, ...args)
  }

  test('a command prints its own result alone', async () => {
    const out = expect.stringMatching(/^Usage: plant-store-server token list /)
    expect(await pnpm('server', 'help', 'token', 'list')).toEqual({ code: 0, out, err: '' })
  })

  test('a command that fails keeps its exit code', async () => {
    const says = /^plant-store-server: nothing was started:/
    expect(await pnpm('server', 'nonsense')).toEqual(ends(78, says))
  })

  test('a build that fails is shown, and nothing is run', async () => {
    const PATH = `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env.PATH}`
    const build = join(ROOT, '.ci/build-server.ts')
    const ended = await runIn(temporaryFolder(), { PATH }, process.execPath, build)
    expect(ended).toEqual(ends(1, 'package.json', ''))
  })
})
