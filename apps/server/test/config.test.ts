import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { ConfigError, loadConfig } from '../src/config/config.ts'

function problemsOf(environment: Record<string, string>, flags = {}): string[] {
  try {
    loadConfig(flags, environment)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n').map((line) => line.trim())
  }
}

const ISSUER = 'https://issuer.test/'
const CLAIMS = { PLANT_STORE_JWT_ISSUER: ISSUER, PLANT_STORE_JWT_AUDIENCE: 'plants' }
const JWTS = { ...CLAIMS, PLANT_STORE_JWKS_URL: 'https://issuer.test/keys' }

describe('the settings', () => {
  test.each<[setting: string, text: string, value: unknown]>([
    ['listen', '[::1]:3000', { host: '::1', port: 3000 }],
    ['listen', 'localhost:0', { host: 'localhost', port: 0 }],
    ['listen', '0.0.0.0:65535', { host: '0.0.0.0', port: 65_535 }],
    ['operationsListen', 'off', undefined],
    ['trustedProxies', '10.0.0.0/8, ::1,2001:db8::/32', ['10.0.0.0/8', '::1', '2001:db8::/32']],
    [
      'corsOrigins',
      'https://a.example,http://b:5173 , c://d',
      ['https://a.example', 'http://b:5173', 'c://d'],
    ],
    ['failedCredentialLimit', 'off', undefined],
    ['rateLimit', '500', 500],
    ['allowDataLoss', 'yes', true],
    ['docs', 'off', false],
  ])('take for %s the value %s', (setting, text, value) => {
    expect(loadConfig({ [setting]: text }, {})).toMatchObject({ [setting]: value })
  })

  test.each([
    'https://issuer.test:8443/keys?tenant=a',
    'http://localhost/keys',
    'http://127.0.0.1:8080/keys',
    'http://[::1]:8080/keys',
  ])('take keys of JWTs from %s', (url) => {
    const environment = { ...JWTS, PLANT_STORE_JWKS_URL: url }
    expect(loadConfig({}, environment)).toMatchObject({ jwksUrl: url, jwtIssuer: ISSUER })
  })
})

test.each([
  [0o600, false],
  [0o640, false],
  [0o644, true],
  [0o660, true],
])('a file of the database URL with the mode %o is open to others: %s', (mode, isOpen) => {
  const path = join(temporaryFolder(), 'url')
  writeFileSync(path, 'sqlite:./plants.db')
  chmodSync(path, mode)
  const { openFile } = loadConfig({}, { PLANT_STORE_DATABASE_URL_FILE: path })
  expect(openFile).toBe(isOpen ? path : undefined)
})

const NEEDED = 'must be set with PLANT_STORE_JWKS_URL, or any token would do'
const IDLE = 'means nothing without PLANT_STORE_JWKS_URL or PLANT_STORE_JWKS_FILE'

test.each<[what: string, environment: Record<string, string>, problems: string[]]>([
  [
    'keys by address and by file',
    { ...JWTS, PLANT_STORE_JWKS_FILE: 'keys.json' },
    ['PLANT_STORE_JWKS_URL: cannot be set together with PLANT_STORE_JWKS_FILE'],
  ],
  [
    'keys without an issuer and an audience',
    { PLANT_STORE_JWKS_URL: 'https://issuer.test/keys' },
    [`PLANT_STORE_JWT_ISSUER: ${NEEDED}`, `PLANT_STORE_JWT_AUDIENCE: ${NEEDED}`],
  ],
  [
    'a file of keys without an audience',
    { PLANT_STORE_JWKS_FILE: 'keys.json', PLANT_STORE_JWT_ISSUER: 'a' },
    [`PLANT_STORE_JWT_AUDIENCE: ${NEEDED.replace('URL', 'FILE')}`],
  ],
  [
    'an issuer and an audience without keys',
    CLAIMS,
    [`PLANT_STORE_JWT_ISSUER: ${IDLE}`, `PLANT_STORE_JWT_AUDIENCE: ${IDLE}`],
  ],
  [
    'an empty audience',
    { ...JWTS, PLANT_STORE_JWT_AUDIENCE: '' },
    ['PLANT_STORE_JWT_AUDIENCE: must not be empty, or none (it is "")'],
  ],
])('settings of JWTs that conflict are refused: %s', (_what, environment, problems) => {
  expect(problemsOf(environment)).toEqual(problems)
})

const KEYS = 'must be an https:// address, or an http://'
const AN_ORIGIN = 'must be an origin'
const A_NETWORK = 'must be an address or a network'
const A_HOST = 'must be http:// or https:// and a host'

describe('wrong settings', () => {
  const wrong: readonly [name: string, rule: string, ...values: string[]][] = [
    ['JWKS_URL', KEYS, 'http://issuer.test/keys', 'http://localhost.issuer.test/keys'],
    ['JWKS_URL', KEYS, 'file:///etc/keys.json', 'https://user:secret@issuer.test/keys', ''],
    ['CORS_ORIGINS', 'such as https://plants.example; there is no *', '*'],
    ['CORS_ORIGINS', '"*" must be an origin', 'https://a.example,*'],
    ['CORS_ORIGINS', AN_ORIGIN, 'https://*.example', 'https://a.example/', 'https://A.example'],
    ['CORS_ORIGINS', AN_ORIGIN, 'https://a.example:443', 'https://user@a.example', 'a.example'],
    ['CORS_ORIGINS', AN_ORIGIN, 'null', ''],
    ['TRUSTED_PROXIES', A_NETWORK, 'proxy.example', '10.0.0.0/33', '::1/129', '10.0.0.1,', '*'],
    ['TRUSTED_PROXIES', A_NETWORK, 'fe80::1%eth0'],
    ['REQEST_LIMIT', 'no such setting. Did you mean PLANT_STORE_REQUEST_LIMIT?', '1'],
    ['RATE_LIMIT', 'must be a whole number from 1 to 1000000, or off', '0'],
    ['CONNECTION_LIMIT', 'must be a whole number from 1', '0'],
    ['LISTEN', 'must be a host and a port, such as 127.0.0.1:3000 (it is "3000")', '3000'],
    ['LISTEN', 'must be a host and a port', 'a:65536'],
    ['OPERATIONS_LISTEN', 'or off', 'no'],
    ['BODY_LIMIT_BYTES', 'must be a whole number from 64 to 16777216', '1e3'],
    ['REQUEST_LIMIT', 'must be a whole number from 1', '0'],
    ['LOG_LEVEL', 'must be fatal, error, warn', 'loud'],
    ['DOCS', 'must be on or off', 'yes'],
    ['PUBLIC_URL', A_HOST, 'plants.test', 'https://plants.test?a'],
    ['PUBLIC_URL', 'no slash at its end', 'https://plants.test/'],
    ['PUBLIC_URL', 'with no user', 'https://a:b@plants.test'],
  ]

  test.each(
    wrong.flatMap(([name, rule, ...values]) => values.map((value) => [name, value, rule] as const)),
  )('PLANT_STORE_%s=%j are reported with their rule', (name, value, rule) => {
    const [problem] = problemsOf({ [`PLANT_STORE_${name}`]: value })
    expect(problem).toMatch(new RegExp(`^PLANT_STORE_${name}: `))
    expect(problem).toContain(rule)
  })

  test('never show a key in the query of an address, wrong or right', () => {
    const url = 'https://issuer.test/keys?code=hunter2'
    const { shown } = loadConfig({}, { ...JWTS, PLANT_STORE_JWKS_URL: url })
    expect(shown.map(({ text }) => text)).toContain('https://issuer.test/keys?***')
    const wrong = problemsOf({ ...JWTS, PLANT_STORE_JWKS_URL: url.replace('s', '') })
    expect(JSON.stringify([shown, wrong])).not.toContain('hunter2')
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
    expect(loadConfig({ databaseUrl }, both)).toMatchObject({ databaseUrl })
  })

  test.each([
    ['/nowhere', 'ENOENT'],
    ['/dev/zero', 'it is longer than 65536 bytes'],
    ['pipe', 'must be sqlite: and a path'],
  ])('name a secret file that cannot be read, and wait for none: %s', (name, reason) => {
    const path = resolve(temporaryFolder(), name)
    if (name === 'pipe') execFileSync('mkfifo', [path])
    const [problem] = problemsOf({ PLANT_STORE_DATABASE_URL_FILE: path })
    expect(problem).toContain(`PLANT_STORE_DATABASE_URL_FILE: ${reason}`)
  })

  test('are none in a pipe that is slow', async () => {
    const path = join(temporaryFolder(), 'pipe')
    const script = 'mkfifo "$0"; exec 3<>"$0"; echo open; sleep 0.2; echo sqlite:./p.db >&3'
    const { stdout } = spawn('sh', ['-c', script, path])
    await once(stdout, 'data')
    expect(problemsOf({ PLANT_STORE_DATABASE_URL_FILE: path })).toEqual([])
  })

  test('are certificates that nobody checks', () => {
    const [problem] = problemsOf({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })
    expect(problem).toMatch(/^NODE_TLS_REJECT_UNAUTHORIZED: .*NODE_EXTRA_CA_CERTS$/)
    expect(problemsOf({ NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toEqual([])
  })

  test('leave the names of the client alone', () => {
    expect(problemsOf({ PLANT_STORE_TOKEN: 'x', PLANT_STORE_BASE_URL: 'y' })).toEqual([])
  })
})
