import { writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT, readRoot } from '../../../../test/root.ts'
import { startProgram } from '../../../../test/start-program.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { flagOf, settingNames } from '../../src/config/settings.ts'
import { arrange, ends, runProgram } from './program.ts'

const commands = ['export', 'backup', 'restore', 'migrate', 'config', 'doctor']

describe('help', () => {
  test('lists every command with what it does', async () => {
    const { code, out } = await runProgram('--help')
    expect(code).toBe(0)
    for (const name of ['serve', 'token', 'openapi', ...commands]) {
      expect(out).toMatch(new RegExp(`^ {2}${name}\\b.* {2}\\w.{10}`, 'm'))
    }
  })

  test.each([
    ['help token create', 'Usage: plant-store-server token create [options]'],
    ['help token', 'Usage: plant-store-server token [options] [command]'],
    ['help export', 'Usage: plant-store-server export [options]'],
    ['help', 'Usage: plant-store-server [options] [command]'],
  ])('comes for %s too', async (line, usage) => {
    const { code, out } = await runProgram(line)
    expect({ code, usage: out.split('\n')[0] }).toEqual({ code: 0, usage })
  })

  test.each(['serve', ...commands])(
    'of %s is no wider than a person reads, and has its settings',
    async (name) => {
      const { code, out } = await runProgram(`${name} --help`)
      expect(code).toBe(0)
      expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
      const flags = out.match(/(?<=^ {2})--\S+/gm)
      expect(flags).toContain('--database-url')
      if (['serve', 'config'].includes(name)) expect(flags).toEqual(settingNames.map(flagOf))
    },
  )
})

test('the version is that of the package', async () => {
  const { version } = JSON.parse(readRoot('apps/server/package.json'))
  expect(await runProgram('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' })
})

describe('a line is refused, with what to write, or what was meant if it is near:', () => {
  test.each([
    ['serve extra', "too many arguments for 'serve', which takes none: 'extra'"],
    ['exprt', "error: unknown command 'exprt'\\n {2}\\(Did you mean export\\?\\)\\nTry: plant-"],
    ['nonsense', "error: unknown command 'nonsense'\\nTry: plant-store-server --help$"],
    ['--listn 127.0.0.1:0', "unknown option '--listn'\\n {2}\\(Did you mean --listen\\?\\)"],
    ['backup a --database-ul=postgres://a:b@c', "unknown option '--database-ul'\\nTry: "],
    ['--foo=1', "error: unknown option '--foo'\\nTry: plant-store-server --help$"],
    ['token creat', "error: unknown command 'creat'\\n {2}\\(Did you mean create\\?\\)\\n"],
    ['token create --name a!b', 'Use 1 to 64 letters'],
    ['token create --name x --expires soon', 'Write a number and m, h or d, .*, or never\\.'],
    ['token create --name x --expires 0d', 'Write a number and m, h or d'],
    ['token create', "required option '--name <name>' not specified"],
    ['export --format xml', 'Allowed choices are jsonl, csv'],
    ['openapi --format xml', 'Allowed choices are json, json-3.0'],
  ])('%s', async (line, says) => {
    const ended = await runProgram(line)
    expect(ended).toEqual(ends(78, new RegExp(says, 'm'), ''))
    expect(ended.err.includes('Did you mean')).toBe(/\\\?/.test(says))
  })

  test.each([
    ['backup', 'pg_dump --format=custom --file=FILE --host=HOST --username=USER DATABASE'],
    ['restore', 'pg_restore --single-transaction --host=HOST --username=USER --dbname=DATABASE F'],
  ])('%s of PostgreSQL names its program, and no password', async (name, line) => {
    const url = 'postgres://user:hunter2@127.0.0.1:1/plants'
    const ended = await runProgram(`${name} file --database-url ${url}`)
    expect(ended).toEqual(ends(78, `Try:\n  ${line}`))
    expect(ended.err).toContain('in the file that PGPASSFILE names')
    expect(ended.err).not.toMatch(/hunter2|DATABASE_URL/)
  })
})

test('config prints every setting with its value and its source, of which a flag is the first', async () => {
  const { at, shell } = await arrange()
  writeFileSync(at('url'), 'postgres://user:hunter2@host/db\n')
  const environment =
    'PLANT_STORE_LISTEN=127.0.0.1:5000 PLANT_STORE_REQUEST_LIMIT=5 PLANT_STORE_DATABASE_URL_FILE=url'
  const { code, out } = await shell(`${environment} server config --request-limit 7`)
  expect(code).toBe(0)
  const lines = out.trimEnd().split('\n')
  expect(lines).toHaveLength(settingNames.length)
  expect(lines).toEqual(
    expect.arrayContaining([
      'PLANT_STORE_LISTEN=127.0.0.1:5000  # PLANT_STORE_LISTEN',
      'PLANT_STORE_REQUEST_LIMIT=7  # --request-limit',
      'PLANT_STORE_BODY_LIMIT_BYTES=65536  # default',
      'PLANT_STORE_DATABASE_URL=postgres://user:***@host/db  # PLANT_STORE_DATABASE_URL_FILE',
    ]),
  )
})

describe('openapi', () => {
  const committed = readRoot('packages/contract/openapi.json')

  test('prints the committed document, byte for byte', async () => {
    expect(await runProgram('openapi')).toEqual({ code: 0, out: committed, err: '' })
  })

  test('prints it for tools that know OpenAPI 3.0 only', async () => {
    const { openapi, paths } = JSON.parse((await runProgram('openapi --format json-3.0')).out)
    const { post } = JSON.parse(committed).paths['/plants']
    const { default: unknownFailure, ...responses } = post.responses
    expect(openapi).toBe('3.0.3')
    expect(paths).toEqual({ '/plants': { post: { ...post, responses } } })
  })

  test('names the base address that it is given', async () => {
    const { out } = await runProgram('openapi --public-url https://plants.test/store')
    expect(JSON.parse(out).servers).toMatchObject([{ url: 'https://plants.test/store' }])
  })
})

/** It looks whether the build is the newest, beside whatever else the machine does. */
describe('in a clone', { timeout: 180_000 }, () => {
  /** What npm says of its own configuration comes before pnpm starts. */
  const OF_NPM = /^npm warn .*\n/gm

  async function runIn(cwd: string, env: NodeJS.ProcessEnv, ...words: string[]) {
    const { code, out, err } = await startProgram(words, { cwd, env }).ended
    return { code, out, err: err.replaceAll(OF_NPM, '') }
  }

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
    expect(await pnpm('server', 'nonsense')).toEqual(ends(78, "unknown command 'nonsense'"))
  })

  test('a build that fails is shown, and nothing is run', async () => {
    const PATH = `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env.PATH}`
    const build = join(ROOT, '.ci/build-server.ts')
    const ended = await runIn(temporaryFolder(), { PATH }, process.execPath, build)
    expect(ended).toEqual(ends(1, '[ERROR] The entry point', ''))
  })
})
