import { describe, expect, test } from 'vitest'
import { flagOf, settingNames } from '../../src/config/settings.ts'
import { readRoot } from '../process/node-flags.ts'
import { ends, runProgram } from './program.ts'

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

  test.each(['serve', 'config'])('of %s has every setting', async (name) => {
    const { out } = await runProgram(`${name} --help`)
    expect(out.match(/(?<=^ {2})--\S+/gm)).toEqual(settingNames.map(flagOf))
  })

  test.each(['serve', ...commands])(
    'of %s fits a terminal and names the flag of the database',
    async (name) => {
      const { code, out } = await runProgram(`${name} --help`)
      expect(code).toBe(0)
      expect(out).toContain('--database-url <value>')
      expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
    },
  )
})

test('the version is that of the package', async () => {
  const { version } = JSON.parse(readRoot('apps/server/package.json'))
  expect(await runProgram('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' })
})

test.each([
  [
    'serve extra',
    /^(?!.*Did you mean).*too many arguments for 'serve', which takes none: 'extra'/s,
  ],
  ['exprt', /exprt: there is no such command\. Did you mean export\?/],
  [
    '--listn 127.0.0.1:0 --request-lim=5 tokn',
    /--listn: .* --listen\?\n *--request-lim: .* --request-limit\?\n *tokn: there is no such command\. .* token\?/,
  ],
  [
    '--foo=1 nonsense',
    /^(?!.*Did you mean).*--foo: there is no such setting\. Try: plant-store-server serve --help\n *nonsense: there is no such command\. Try: plant-store-server --help$/ms,
  ],
  ['token creat', /error: unknown command 'creat'\n {2}\(Did you mean create\?\)\n/],
])(
  'a word or a flag that does not exist is refused, with the one that was meant, if one is near, in a line of its own: %s',
  async (line, says) => {
    expect(await runProgram(line)).toEqual(ends(78, says))
  },
)

test.each([
  ['backup', 'pg_dump --format=custom --file=FILE --host=HOST --username=USER DATABASE'],
  ['restore', 'pg_restore --single-transaction --host=HOST --username=USER --dbname=DATABASE FILE'],
])(
  '%s names the program that does it for a store in PostgreSQL, and puts no password on its line',
  async (name, line) => {
    const url = 'postgres://user:hunter2@127.0.0.1:1/plants'
    const ended = await runProgram(`${name} file --database-url ${url}`)
    expect(ended).toEqual(ends(78, `Try:\n  ${line}\n`))
    expect(ended.err).not.toContain('hunter2')
  },
)

describe('openapi', () => {
  const committed = readRoot('packages/contract/openapi.json')

  test('prints the committed document, byte for byte', async () => {
    expect(await runProgram('openapi')).toEqual({ code: 0, out: committed, err: '' })
  })

  test('prints it for tools that know OpenAPI 3.0 only, and in no other format', async () => {
    const { openapi, paths } = JSON.parse((await runProgram('openapi --format json-3.0')).out)
    const { post } = JSON.parse(committed).paths['/plants']
    const { default: unknownFailure, ...responses } = post.responses
    expect(openapi).toBe('3.0.3')
    expect(paths).toEqual({ '/plants': { post: { ...post, responses } } })
    expect(await runProgram('openapi --format xml')).toEqual(ends(78, '', ''))
  })

  test('names the base address that it is given', async () => {
    const { out } = await runProgram('openapi --public-url https://plants.test/store')
    expect(JSON.parse(out).servers).toMatchObject([{ url: 'https://plants.test/store' }])
  })
})
