import { inspect } from 'node:util'
import { expect, test } from 'vitest'
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

/** Fails where a URL is taken, or where the refusal holds the password. */
function expectRefusal(place: string, reason: string, environment: NodeJS.ProcessEnv = {}): void {
  try {
    read(place, environment)
  } catch (error) {
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(SECRET)
    expect(error).toBeInstanceOf(StoreRefusedError)
    const { message, fix } = error as StoreRefusedError
    expect(message).toContain(reason)
    if (/plain text/.test(message)) expect(fix).toContain('sslmode=verify-full')
    return
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
  ['disable', false],
  ['prefer', { rejectUnauthorized: false }],
  ['require', { rejectUnauthorized: false }],
  ['verify-full', {}],
])('sslmode=%s is as in libpq, in the URL and in PGSSLMODE', (mode, ssl) => {
  const sslOf = (place: string, environment = {}) => read(place, environment).servers[0]?.ssl
  expect(sslOf(`plants.example/p?sslmode=${mode}`)).toEqual(ssl)
  expect(sslOf('plants.example/p', { PGSSLMODE: mode })).toEqual(ssl)
  expect(sslOf('plants.example/p?sslmode=disable', { PGSSLMODE: mode })).toBe(false)
})

const MODES = 'sslmode must be one of disable, prefer, require, verify-ca, verify-full'

test.each<[reason: string, places: string[]]>([
  [
    'could be plain text',
    [
      ...['plants.example/p', '10.0.0.7:5433/p', '127.0.0.1.example/p', 'localhost.example/p'],
      ...['[2001:db8::1]/p', 'localhost/p?host=plants.example', 'localhost,b.example/p'],
    ],
  ],
  [MODES, ['allow', 'none', 'VERIFY-FULL', '', 'no-verify'].map((mode) => `a/p?sslmode=${mode}`)],
  [
    'target_session_attrs must be read-write',
    ['standby', 'prefer-standby', 'read-only', 'master'].map(
      (target) => `localhost/p?target_session_attrs=${target}`,
    ),
  ],
  [
    'said once',
    ['localhost/p?sslmode=verify-full&sslmode=disable', 'localhost/p?options=a&options=b'],
  ],
  [
    'the database URL cannot be used: ',
    [
      'plants.example/plants?sslmode=verify-ca',
      'plants.example/plants?sslmode=verify-full&sslrootcert=/nowhere/root.crt',
      'plants.example:99999/plants',
      'plants example/plants',
      'a.example,b example/plants?sslmode=verify-full',
      'a.example:1:2,b.example/plants?sslmode=verify-full',
      '[::1/plants',
    ],
  ],
])('is refused, since it %s: %s', (reason, places) => {
  for (const place of places) expectRefusal(place, reason)
})

// What asks for a protection that is not given.
test.each([
  ...['channel_binding=require', 'require_auth=scram-sha-256', 'requirepeer=postgres'],
  ...['ssl_min_protocol_version=TLSv1.3', 'sslcrl=/x', 'gssencmode=require', 'ssl=0'],
  ...['uselibpqcompat=false', 'connect_timeout=3', '__proto__=x', 'PGCHANNELBINDING=require'],
  ...['PGREQUIREAUTH=md5', 'PGREQUIREPEER=postgres', 'PGSSLROOTCERT=/root.crt'],
  ...['PGSSLMINPROTOCOLVERSION=TLSv1.3', 'PGGSSENCMODE=require'],
])('%s is refused by its name, in the URL or the environment', (said) => {
  const [name = '', value] = said.split('=')
  const isVariable = name.startsWith('PG')
  const environment = isVariable ? { [name]: value } : {}
  const place = `plants.example/p?sslmode=verify-full${isVariable ? '' : `&${said}`}`
  expectRefusal(place, `${name} is not honoured here`, environment)
})

test('other variables change nothing', () => {
  const others = { PGHOST: 'other', PGPORT: '1', PGGSSENCMODE: 'disable', PGSSLMODE: '' }
  expect(read('127.0.0.1/plants', others)).toEqual(read('127.0.0.1/plants'))
})

test('what pg takes reaches it', () => {
  const query = 'application_name=fern&options=-c%20search_path%3Dx&sslmode=require'
  expect(read(`127.0.0.1/plants?${query}`).servers[0]).toMatchObject({
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
  ['postgres://user:hunter2@host/db', 'postgres://user:***@host/db'],
  [
    'postgres://user:hunt:er@2@host:5432/db?sslmode=require',
    'postgres://user:***@host:5432/db?sslmode=require',
  ],
  ['postgres://:hunter2@host:1,other,[::1]/db', 'postgres://:***@host:1,other,[::1]/db'],
  [
    'postgres://host/db?user=a&password=hunter2&sslmode=disable',
    'postgres://host/db?user=a&password=***&sslmode=disable',
  ],
  ['postgres:///db?p%61ssword=hunter2', 'postgres:///db?password=***'],
  ['postgres:///db?password=a&password=hunter2', 'postgres:///db?password=***'],
  ['sqlite:./data/plants.db', 'sqlite:./data/plants.db'],
  ['postgres://user@host/db', 'postgres://user@host/db'],
  // These can be read in more than one way.
  ['postgres:///db?PASSWORD=hunter2', 'postgres:***'],
  ['postgres:///db?hunter2', 'postgres:***'],
  ['postgres:///db?sslpassword=hunter2', 'postgres:***'],
  ['postgres://user:hunter2', 'postgres:***'],
  ['postgres://user@host:x,hunter2/db', 'postgres:***'],
  ['postgres://user:hunt/er2@host/db', 'postgres:***'],
  ['postgres://user:12/hunter2@host/db', 'postgres:***'],
  ['postgres://user:12?hunter2@host/db', 'postgres:***'],
  ['postgres://user:12#hunter2@host/db', 'postgres:***'],
  ['postgres://user%3Ahunter2@host/db', 'postgres:***'],
  ['postgres://host/db password=hunter2', 'postgres:***'],
])('%s is shown without its password, or not at all', (url, shown) => {
  expect(maskDatabaseUrl(url)).toBe(shown)
})
