import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { maskDatabaseUrl } from '../../src/engines.ts'
import { readPostgresUrl } from '../../src/postgres/url.ts'
import { StoreRefusedError } from '../../src/store/store.ts'

const SECRET = 'h3rbarium'

function urlOf(place: string): string {
  return `postgres://gardener:${SECRET}@${place}`
}

function read(place: string, environment: NodeJS.ProcessEnv = {}) {
  return readPostgresUrl(urlOf(place), environment)
}

function configOf(place: string, environment: NodeJS.ProcessEnv = {}) {
  const [server] = read(place, environment).servers
  if (server === undefined) throw new Error(`${place} names no server`)
  return server
}

function refusalOf(place: string, environment: NodeJS.ProcessEnv = {}): StoreRefusedError {
  try {
    read(place, environment)
  } catch (error) {
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(SECRET)
    if (error instanceof StoreRefusedError) return error
    throw error
  }
  throw new Error(`${place} was taken`)
}

test.each([
  ...['localhost/p', '127.0.0.1:5433/p', '127.9.9.9/p', '[::1]:5433/p', '%2Fvar%2Frun%2Fpg/p'],
  'localhost:1,127.0.0.1:2/p',
])('%s stays on this machine, so plain text needs no word', (place) => {
  for (const { ssl } of read(place).servers) expect(ssl).toBeFalsy()
})

test.each([
  ...['plants.example/p', '10.0.0.7:5433/p', '127.0.0.1.example/p', 'localhost.example/p'],
  ...['[2001:db8::1]/p', 'localhost/p?host=plants.example', 'localhost,b.example/p'],
])('%s is refused unless sslmode says what is meant', (place) => {
  expect(refusalOf(place).fix).toMatch(/sslmode=verify-full/)
})

test.each(['allow', 'none', 'VERIFY-FULL', '', 'no-verify'])('sslmode=%s is no mode', (mode) => {
  const { message } = refusalOf(`plants.example/p?sslmode=${mode}`)
  expect(message).toMatch(/one of disable, .*verify-full/)
})

test.each([
  ['disable', false],
  ['prefer', { rejectUnauthorized: false }],
  ['require', { rejectUnauthorized: false }],
  ['verify-full', {}],
])('sslmode=%s is as in libpq, in the URL and in PGSSLMODE', (mode, ssl) => {
  expect(configOf(`plants.example/p?sslmode=${mode}`).ssl).toEqual(ssl)
  expect(configOf('plants.example/p', { PGSSLMODE: mode }).ssl).toEqual(ssl)
  const both = configOf('plants.example/p?sslmode=disable', { PGSSLMODE: mode })
  expect(both.ssl).toBe(false)
})

describe('what asks for a protection that is not given', () => {
  test.each([
    ...['channel_binding=require', 'require_auth=scram-sha-256', 'requirepeer=postgres'],
    ...['ssl_min_protocol_version=TLSv1.3', 'sslcrl=/x', 'gssencmode=require', 'ssl=0'],
    ...['uselibpqcompat=false', 'connect_timeout=3', '__proto__=x'],
  ])('%s is refused by its name', (parameter) => {
    const [name = ''] = parameter.split('=')
    const { message } = refusalOf(`plants.example/p?sslmode=verify-full&${parameter}`)
    expect(message).toContain(`${name} is not honoured here`)
  })

  test.each([
    ...['PGCHANNELBINDING=require', 'PGREQUIREAUTH=md5', 'PGREQUIREPEER=postgres'],
    ...['PGSSLROOTCERT=/root.crt', 'PGSSLMINPROTOCOLVERSION=TLSv1.3', 'PGGSSENCMODE=require'],
  ])('%s is refused by its name', (variable) => {
    const [name = '', value] = variable.split('=')
    expect(refusalOf('localhost/p', { [name]: value }).message).toContain(name)
  })

  test.each(['sslmode=verify-full&sslmode=disable', 'options=a&options=b'])(
    '%s is refused, since it may mean either',
    (query) => expect(refusalOf(`localhost/p?${query}`).message).toContain('said once'),
  )

  test.each(['standby', 'prefer-standby', 'read-only', 'master'])(
    'a server that is %s is refused, since it stores nothing',
    (target) => {
      const { message } = refusalOf(`localhost/p?target_session_attrs=${target}`)
      expect(message).toContain('must be read-write')
    },
  )

  test('other variables change nothing', () => {
    const others = { PGHOST: 'other', PGPORT: '1', PGGSSENCMODE: 'disable', PGSSLMODE: '' }
    expect(read('127.0.0.1/plants', others)).toEqual(read('127.0.0.1/plants'))
  })
})

test('what pg takes reaches it', () => {
  const query = 'application_name=fern&options=-c%20search_path%3Dx&sslmode=require'
  expect(configOf(`127.0.0.1/plants?${query}`)).toMatchObject({
    ...{ user: 'gardener', password: SECRET, database: 'plants', host: '127.0.0.1', port: 5432 },
    ...{ application_name: 'fern', options: '-c search_path=x' },
  })
})

test.each([
  ['localhost:1,127.0.0.1:2/p', ['localhost:1', '127.0.0.1:2'], true],
  ['localhost,[::1]:3/p?port=7', ['localhost:7', '::1:7'], true],
  ['/p?host=/run/pg', ['/run/pg:5432'], false],
  ['localhost/p', ['localhost:5432'], false],
  ['localhost/p?target_session_attrs=any', ['localhost:5432'], false],
  ['localhost/p?target_session_attrs=read-write', ['localhost:5432'], true],
])('%s names the servers %s, and whether one must take writes', (place, hosts, mustWrite) => {
  const address = read(place)
  expect(address.servers.map(({ host, port }) => `${host}:${port}`)).toEqual(hosts)
  expect(address).toMatchObject({ mustWrite, place: `${hosts.join(',')}/p` })
})

test.each([
  'plants.example/plants?sslmode=verify-ca',
  'plants.example/plants?sslmode=verify-full&sslrootcert=/nowhere/root.crt',
  'plants.example:99999/plants',
  'plants example/plants',
  'a.example,b example/plants?sslmode=verify-full',
  'a.example:1:2,b.example/plants?sslmode=verify-full',
  '[::1/plants',
])('%s is refused in words that do not hold the password', (place) => {
  expect(refusalOf(place).message).toContain('the database URL cannot be used: ')
})

test('a URL is shown without the password, or not at all', () => {
  const place = 'a.example:1,b.example:2,[::1]/p?target_session_attrs=primary'
  expect(maskDatabaseUrl(urlOf(place))).toBe(`postgres://gardener:***@${place}`)
  for (const doubtful of [`a.example:x,${SECRET}/p`, `a/p?x=${SECRET}`, `a/p?password=${SECRET}`]) {
    expect(maskDatabaseUrl(urlOf(doubtful))).not.toContain(SECRET)
  }
})
