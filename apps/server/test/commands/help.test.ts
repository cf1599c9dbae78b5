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

  test.each(commands)('of %s fits a terminal and tells where the database is', async (name) => {
    const { code, out } = await runProgram([name, '--help'])
    expect(code).toBe(0)
    expect(out).toContain('--database-url <value>')
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
  })
})

describe('for a store in PostgreSQL', () => {
  test.each([
    ['backup', 'pg_dump --format=custom --file=FILE "$PLANT_STORE_DATABASE_URL"'],
    ['restore', 'pg_restore --single-transaction --dbname="$PLANT_STORE_DATABASE_URL" FILE'],
  ])('%s names the program that does it', async (name, line) => {
    const url = 'postgres://user:hunter2@127.0.0.1:1/plants'
    const { code, err } = await runProgram([name, 'file', '--database-url', url])
    expect(code).toBe(78)
    expect(err).toContain(`Try:\n  ${line}\n`)
    expect(err).not.toContain('hunter2')
  })
})
