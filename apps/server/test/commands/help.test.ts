import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { flagOf, settingNames } from '../../src/config/settings.ts'
import { runProgram } from './program.ts'

const commands = ['export', 'backup', 'restore', 'migrate', 'config', 'doctor']

describe('help', () => {
  test('lists every command with what it does', async () => {
    const { code, out } = await runProgram(['--help'])
    expect(code).toBe(0)
    for (const name of ['serve', 'token', 'openapi', ...commands]) {
      expect(out).toMatch(new RegExp(`^ {2}${name}\\b.* {2}\\w.{10}`, 'm'))
    }
  })

  test.each([
    [['help', 'token', 'create'], 'Usage: plant-store-server token create [options]'],
    [['help', 'token'], 'Usage: plant-store-server token [options] [command]'],
    [['help', 'export'], 'Usage: plant-store-server export [options]'],
    [['help'], 'Usage: plant-store-server [options] [command]'],
  ])('comes for %j too', async (args, usage) => {
    const { code, out } = await runProgram(args)
    expect(code).toBe(0)
    expect(out.split('\n')[0]).toBe(usage)
  })

  test.each(['serve', 'config'])('of %s has every setting', async (name) => {
    const { out } = await runProgram([name, '--help'])
    expect(out.match(/(?<=^ {2})--\S+/gm)).toEqual(settingNames.map(flagOf))
  })

  test.each(['serve', ...commands])(
    'of %s fits a terminal and names the flag of the database',
    async (name) => {
      const { code, out } = await runProgram([name, '--help'])
      expect(code).toBe(0)
      expect(out).toContain('--database-url <value>')
      expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
    },
  )
})

test('the version is that of the package', async () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  expect(await runProgram(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
})

test.each([
  [
    ['serve', 'extra'],
    /^(?!.*Did you mean).*too many arguments for 'serve', which takes none: 'extra'/s,
  ],
  [['exprt'], /exprt: there is no such command\. Did you mean export\?/],
  [
    ['--listn', '127.0.0.1:0', '--request-lim=5', 'tokn'],
    /--listn: .* --listen\?\n *--request-lim: .* --request-limit\?\n *tokn: there is no such command\. .* token\?/,
  ],
  [
    ['--foo=1', 'nonsense'],
    /^(?!.*Did you mean).*--foo: there is no such setting\. Try: plant-store-server serve --help\n *nonsense: there is no such command\. Try: plant-store-server --help$/ms,
  ],
])(
  'a word or a flag that does not exist is refused, with the one that was meant, if one is near: %j',
  async (args, message) => {
    const { code, err } = await runProgram(args)
    expect(code).toBe(78)
    expect(err).toMatch(message)
  },
)

describe('for a store in PostgreSQL', () => {
  test.each([
    ['backup', 'pg_dump --format=custom --file=FILE --host=HOST --username=USER DATABASE'],
    [
      'restore',
      'pg_restore --single-transaction --host=HOST --username=USER --dbname=DATABASE FILE',
    ],
  ])('%s names the program that does it, and puts no password on its line', async (name, line) => {
    const url = 'postgres://user:hunter2@127.0.0.1:1/plants'
    const { code, err } = await runProgram([name, 'file', '--database-url', url])
    expect(code).toBe(78)
    expect(err).toContain(`Try:\n  ${line}\n`)
    expect(err).not.toContain('hunter2')
  })
})
