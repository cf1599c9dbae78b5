import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runProgram } from './program.ts'

const commands = ['export', 'load', 'backup', 'restore', 'migrate', 'config', 'doctor']

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
  ])('is asked for with %j too', async (args, usage) => {
    const { code, out } = await runProgram(args)
    expect(code).toBe(0)
    expect(out.split('\n')[0]).toBe(usage)
  })

  test.each(commands)('of %s fits a terminal and tells where the database is', async (name) => {
    const { code, out } = await runProgram([name, '--help'])
    expect(code).toBe(0)
    expect(out).toContain('--database-url <value>')
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
  })
})

test('the version is that of the package', async () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  expect(await runProgram(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
})

describe('a word too many', () => {
  test('after serve is told so', async () => {
    const { code, err } = await runProgram(['serve', 'extra'])
    expect(code).toBe(78)
    expect(err).toContain("too many arguments for 'serve', which takes none: 'extra'")
    expect(err).not.toContain('Did you mean')
  })

  test('without serve is taken for a command that was meant', async () => {
    const { code, err } = await runProgram(['exprt'])
    expect(code).toBe(78)
    expect(err).toContain('exprt: there is no such command. Did you mean export?')
  })

  test('beside an unknown flag leaves the flag told', async () => {
    const { code, err } = await runProgram(['serve', '--listn', '127.0.0.1:0'])
    expect(code).toBe(78)
    expect(err).toContain('--listn: there is no such setting. Did you mean --listen?')
  })
})

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
