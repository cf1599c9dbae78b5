import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigError, loadConfig } from '../src/config/config.ts'
import { temporaryFolder } from './temporary-folder.ts'

function problemsOf(environment: Record<string, string>, flags = {}): string[] {
  try {
    loadConfig(flags, [], environment)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n').map((line) => line.trim())
  }
}

describe('the settings', () => {
  test.each([
    ['[::1]:3000', { host: '::1', port: 3000 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['0.0.0.0:65535', { host: '0.0.0.0', port: 65_535 }],
  ])('take %s as an address', (text, address) => {
    expect(loadConfig({ listen: text }, [], {}).listen).toEqual(address)
  })
})

describe('wrong settings', () => {
  test.each<[name: string, value: string, rule: string]>([
    [
      'PLANT_STORE_LISTEN',
      '3000',
      'must be a host and a port, such as 127.0.0.1:3000 (it is "3000")',
    ],
    ['PLANT_STORE_LISTEN', 'a:65536', 'must be a host and a port'],
    ['PLANT_STORE_OPERATIONS_LISTEN', 'no', 'or off'],
    ['PLANT_STORE_BODY_LIMIT_BYTES', '1e3', 'must be a whole number from 64 to 16777216'],
    ['PLANT_STORE_REQUEST_LIMIT', '0', 'must be a whole number from 1'],
    ['PLANT_STORE_LOG_LEVEL', 'loud', 'must be fatal, error, warn'],
    ['PLANT_STORE_DOCS', 'yes', 'must be on or off'],
    ['PLANT_STORE_PUBLIC_URL', 'plants.test', 'must be http:// or https:// and a host'],
    ['PLANT_STORE_PUBLIC_URL', 'https://plants.test/', 'no slash at its end'],
    ['PLANT_STORE_PUBLIC_URL', 'https://a:b@plants.test', 'with no user'],
    ['PLANT_STORE_PUBLIC_URL', 'https://plants.test?a', 'must be http:// or https:// and a host'],
    ['PLANT_STORE_DATABASE_URL', 'mysql://owner', 'must be sqlite: and a path'],
  ])('%s=%j are reported with their rule', (name, value, rule) => {
    const [problem] = problemsOf({ [name]: value })
    expect(problem).toMatch(new RegExp(`^${name}: `))
    expect(problem).toContain(rule)
  })

  test('never show a database URL, which may hold a password', () => {
    for (const url of ['mysql://owner:hunter2@db', 'postgres:/hunter2', 'password=hunter2']) {
      const [problem, ...others] = problemsOf({ PLANT_STORE_DATABASE_URL: url })
      expect(problem).toMatch(/^PLANT_STORE_DATABASE_URL: must be sqlite: and a path(?!.*hunter2)/)
      expect(others).toEqual([])
    }
  })

  test('are a secret and its file together', () => {
    const path = join(temporaryFolder(), 'secret')
    writeFileSync(path, 'postgres://db.example/plants\n')
    const name = 'PLANT_STORE_DATABASE_URL'
    const both = { [name]: 'sqlite:./plants.db', [`${name}_FILE`]: path }
    expect(problemsOf(both)).toEqual([
      `${name}_FILE: is set, and so is ${name}: set one of the two`,
    ])
    const databaseUrl = 'sqlite:./flag.db'
    expect(loadConfig({ databaseUrl }, [], both)).toMatchObject({ databaseUrl })
  })

  test('name a secret file that cannot be read', () => {
    const [problem] = problemsOf({ PLANT_STORE_DATABASE_URL_FILE: '/nowhere' })
    expect(problem).toMatch(/^PLANT_STORE_DATABASE_URL_FILE: ENOENT/)
  })

  test('leave the names of the client alone', () => {
    expect(problemsOf({ PLANT_STORE_TOKEN: 'x', PLANT_STORE_BASE_URL: 'y' })).toEqual([])
  })
})
