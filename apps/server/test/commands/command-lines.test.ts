import { execFile, spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'

const PACKAGE = join(import.meta.dirname, '../..')
const ROOT = join(PACKAGE, '../..')

/** It looks whether the build is the newest, beside whatever else the machine does. */
const BUILD_MS = 180_000

describe('in a clone', { timeout: BUILD_MS }, () => {
  /** What npm says of its own configuration comes before pnpm starts. */
  const OF_NPM = /^npm warn .*\n/gm

  function pnpm(...args: string[]) {
    const given = Object.entries(process.env).filter(([name]) => !/^(?:npm_|VITEST)/i.test(name))
    return new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
      const options = { cwd: ROOT, env: Object.fromEntries(given) }
      execFile(
        'npx',
        ['--prefer-offline', '-y', 'pnpm@12.16.0', ...args],
        options,
        (error, out, err) => {
          resolve({ code: error?.code ?? 0, out, err: err.replaceAll(OF_NPM, '') })
        },
      )
    })
  }

  test('a command prints its own result alone', async () => {
    const { code, out, err } = await pnpm('server', 'help', 'token', 'list')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^Usage: plant-store-server token list /)
  })

  test('a command that fails keeps its exit code', async () => {
    const { code, err } = await pnpm('server', 'nonsense')
    expect(code).toBe(78)
    expect(err).toMatch(/^plant-store-server: nothing was started:/)
  })

  test('a build that fails is shown, and nothing is run', () => {
    const build = join(ROOT, '.ci/build-server.ts')
    const turbo = join(ROOT, 'node_modules/.bin')
    const { status, stdout, stderr } = spawnSync(process.execPath, [build], {
      cwd: temporaryFolder(),
      env: { PATH: `${turbo}${delimiter}${process.env.PATH}` },
      encoding: 'utf8',
    })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/package\.json/)
  })
})
