import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { maskDatabaseUrl } from '../../src/engines.ts'
import { readPostgresUrl } from '../../src/postgres/address.ts'
import { PARAMETERS } from '../../src/postgres/parameters.ts'
import { StoreRefusedError } from '../../src/store/store.ts'

const SECRET = 'h3rbarium'

function urlOf(place: string): string {
  return `postgres://gardener:${SECRET}@${place}`
}

function refusalOf(place: string): unknown {
  try {
    readPostgresUrl(urlOf(place))
  } catch (error) {
    return error
  }
  throw new Error(`${place} was taken`)
}

function configOf(place: string, environment: NodeJS.ProcessEnv = {}) {
  const [server] = readPostgresUrl(urlOf(place), environment).servers
  if (server === undefined) throw new Error(`${place} names no server`)
  return server
}

test.each([
  'localhost/plants',
  '127.0.0.1:5433/plants',
  '127.9.9.9/plants',
  '[::1]:5433/plants',
  '%2Fvar%2Frun%2Fpostgresql/plants',
])('%s stays on this machine, so plain text needs no word', (place) => {
  expect(configOf(place).ssl).toBeFalsy()
})

test.each([
  'plants.example/plants',
  '10.0.0.7:5433/plants',
  '127.0.0.1.example/plants',
  'localhost.example/plants',
  '[2001:db8::1]/plants',
  'localhost/plants?host=plants.example',
])('%s is refused unless sslmode says what is meant', (place) => {
  const error = refusalOf(place)
  expect(error).toBeInstanceOf(StoreRefusedError)
  expect(error).toHaveProperty('message', expect.stringMatching(/sslmode=verify-full/))
})

test.each(['allow', 'none', 'VERIFY-FULL', '', 'no-verify'])(
  'sslmode=%s is none of the modes, and the message names those',
  (mode) => {
    const error = refusalOf(`plants.example/plants?sslmode=${mode}`)
    expect(error).toBeInstanceOf(StoreRefusedError)
    expect(error).toHaveProperty('message', expect.stringMatching(/one of disable, .*verify-full/))
  },
)

describe('beyond this machine', () => {
  test.each([
    'sslmode=verify-full&sslmode=disable',
    'sslmode=verify-full&ssl=0',
    'sslmode=verify-full&ssl=false',
    'sslmode=verify-full&uselibpqcompat=false',
  ])('%s is either refused or encrypted', (query) => {
    let ssl: unknown
    try {
      ssl = configOf(`plants.example/p?${query}`).ssl
    } catch (error) {
      expect(error).toBeInstanceOf(StoreRefusedError)
      return
    }
    expect(ssl).toBeTypeOf('object')
    expect(ssl).not.toHaveProperty('rejectUnauthorized', false)
  })
})

describe('a parameter of libpq', () => {
  // PostgreSQL 18, §34.1.2, and requiressl of older ones.
  const all =
    'host hostaddr port dbname user password passfile require_auth channel_binding ' +
    'connect_timeout client_encoding options application_name fallback_application_name ' +
    'keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout ' +
    'replication gssencmode sslmode requiressl sslnegotiation sslcompression sslcert sslkey ' +
    'sslkeylogfile sslpassword sslcertmode sslrootcert sslcrl sslcrldir sslsni requirepeer ' +
    'ssl_min_protocol_version ssl_max_protocol_version min_protocol_version ' +
    'max_protocol_version krbsrvname gsslib gssdelegation scram_client_key scram_server_key ' +
    'service target_session_attrs load_balance_hosts oauth_issuer oauth_client_id ' +
    'oauth_client_secret oauth_scope'

  test.each(all.split(' '))('%s is known', (name) => {
    expect(Object.keys(PARAMETERS)).toContain(name)
  })

  test.each([
    ['channel_binding=require', /channel_binding=require needs TLS/],
    ['channel_binding=always', /channel_binding must be disable, prefer or require/],
    ['require_auth=scram', /require_auth must be methods of password, /],
    ['require_auth=!md5,password', /require_auth must be/],
    ['sslnegotiation=direct&sslmode=disable', /sslnegotiation=direct needs TLS/],
    ['connect_timeout=10', /connect_timeout must be 1 to 4 seconds/],
    ['target_session_attrs=master', /target_session_attrs must be one of any, read-write, /],
    ['load_balance_hosts=yes', /load_balance_hosts must be disable or random/],
    ['gssencmode=require', /gssencmode must be disable/],
    ['client_encoding=LATIN1', /client_encoding must be UTF8/],
    ['sslcrl=/x', /sslcrl is not taken: leave it out: no list of revocations/],
    ['hostaddr=localhost', /hostaddr must be IP addresses/],
    ['hostaddr=127.0.0.1,::1', /hostaddr must have as many values as there are hosts/],
    ['sslpassword=h3rbarium', /sslpassword is not taken/],
    ['port=1,2', /port must have as many values as there are hosts/],
    ['host=a,b&port=1,2,3', /port must have as many values as there are hosts/],
    ['port=0', /port must be 1 to 65535/],
    ['port=x', /port must be numbers/],
    ['statement_timeout=1', /statement_timeout is none of PostgreSQL's/],
    ['uselibpqcompat=true', /uselibpqcompat is none/],
    ['ssl=true', /ssl is none/],
    ['__proto__=x', /none of PostgreSQL's/],
    ['keepalives=1&keepalives=0', /keepalives must be said once/],
  ])('%s is refused by its name', (query, message) => {
    const error = refusalOf(`127.0.0.1/plants?${query}`)
    expect(error).toBeInstanceOf(StoreRefusedError)
    expect(error).toHaveProperty('message', expect.stringMatching(message))
    expect(error).toHaveProperty('message', expect.not.stringContaining(SECRET))
  })

  test('that is honoured reaches pg', () => {
    const query =
      'sslmode=require&ssl_min_protocol_version=TLSv1.3&channel_binding=prefer&keepalives=0' +
      '&keepalives_idle=7&connect_timeout=3&application_name=fern&options=-c%20search_path%3Dx'
    expect(configOf(`127.0.0.1/plants?${query}`)).toMatchObject({
      ssl: { minVersion: 'TLSv1.3', rejectUnauthorized: false },
      enableChannelBinding: true,
      keepAlive: false,
      keepAliveInitialDelayMillis: 7_000,
      connectionTimeoutMillis: 3_000,
      application_name: 'fern',
      options: '-c search_path=x',
    })
  })

  test.each([
    ['PGSSLMODE', 'verify-full', 'ssl', {}],
    ['PGSSLMODE', 'disable', 'ssl', false],
    ['PGCHANNELBINDING', 'prefer', 'enableChannelBinding', true],
    ['PGREQUIREAUTH', 'md5', 'authentication', { methods: new Set(['md5']), isBound: false }],
  ])(
    'counts where the environment says it as %s=%s and the URL does not',
    (name, value, key, said) => {
      expect(configOf('127.0.0.1/plants', { [name]: value })).toHaveProperty(key, said)
    },
  )

  test('counts in the URL before the environment', () => {
    const place = 'plants.example/plants?sslmode=verify-full'
    expect(configOf(place, { PGSSLMODE: 'disable' }).ssl).toBeTypeOf('object')
  })

  test.each(['PGREQUIREPEER', 'PGSSLCRL', 'PGSSLCERTMODE'])(
    'that only the environment says, as %s, is refused by that name',
    (name) => {
      const read = () => readPostgresUrl(urlOf('127.0.0.1/plants'), { [name]: 'require' })
      expect(read).toThrow(new RegExp(`${name} (?:is not taken|must be)`))
    },
  )

  test('that other programs read from the environment changes nothing', () => {
    const others = { PGHOST: 'other', PGPORT: '1', PGTARGETSESSIONATTRS: 'read-write' }
    const plain = readPostgresUrl(urlOf('127.0.0.1/plants'), {})
    expect(readPostgresUrl(urlOf('127.0.0.1/plants'), others)).toEqual(plain)
    expect(plain.servers).toMatchObject([{ host: '127.0.0.1', port: 5432 }])
  })
})

test.each([
  ['plants.example:5433/plants?sslmode=require', 'plants.example:5433/plants'],
  ['127.0.0.1/plants', '127.0.0.1:5432/plants'],
])('the place of %s is shown as %s', (place, reply) => {
  expect(readPostgresUrl(urlOf(place)).place).toBe(reply)
})

test.each([
  'plants.example/plants',
  'plants.example/plants?sslmode=tls',
  'plants.example/plants?sslmode=verify-ca',
  'plants.example/plants?sslmode=verify-full&sslrootcert=/nowhere/root.crt',
  'plants.example:99999/plants',
  'plants example/plants',
  'a.example:5432,b.example:5432/plants',
  'localhost,b.example/plants',
  'a.example,b example/plants?sslmode=verify-full',
  'a.example:1:2,b.example/plants?sslmode=verify-full',
  'a.example,b.example:99999/plants?sslmode=verify-full',
  'plants.example/plants?sslmode=verify-full&sslcert=/nowhere',
  '[::1/plants',
])('%s is refused in words that do not hold the password', (place) => {
  const error = refusalOf(place)
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(SECRET)
  expect(error).toBeInstanceOf(StoreRefusedError)
})

describe('a list of hosts', () => {
  const read = (place: string) => readPostgresUrl(urlOf(place), {})
  const serversOf = (place: string) =>
    read(place).servers.map(({ host, port, address }) => [host, port, address])

  test.each([
    ['localhost:1,127.0.0.1:2/p', 'localhost 1, 127.0.0.1 2'],
    ['localhost,127.0.0.1:2/p', 'localhost 5432, 127.0.0.1 2'],
    ['localhost,127.0.0.1/p?port=7', 'localhost 7, 127.0.0.1 7'],
    ['localhost,[::1]:3/p?port=7,8', 'localhost 7, ::1 8'],
    ['/p?host=localhost,/run/pg,&port=7,,9', 'localhost 7, /run/pg 5432, localhost 9'],
    ['%2Frun%2Fpg:6,:7/p', '/run/pg 6, localhost 7'],
    ['a,b/p?hostaddr=127.0.0.1,::1', 'a 5432 127.0.0.1, b 5432 ::1'],
    ['a,localhost/p?hostaddr=127.0.0.1,', 'a 5432 127.0.0.1, localhost 5432'],
    ['/p?hostaddr=127.0.0.1,127.0.0.2', '127.0.0.1 5432 127.0.0.1, 127.0.0.2 5432 127.0.0.2'],
  ])('%s is read as libpq reads it', (place, expected) => {
    const servers = serversOf(place).map((parts) => parts.filter(Boolean).join(' '))
    expect(servers.join(', ')).toBe(expected)
  })

  test('has one of everything else, and its place names them all', () => {
    const address = read(
      'a.example:1,b.example:2/p?sslmode=verify-full&target_session_attrs=read-write&load_balance_hosts=random',
    )
    expect(address).toMatchObject({
      place: 'a.example:1,b.example:2/p',
      target: 'read-write',
      isBalanced: true,
    })
    for (const server of address.servers) {
      expect(server).toMatchObject({ user: 'gardener', password: SECRET, database: 'p' })
      expect(server.ssl).toBeTypeOf('object')
    }
  })

  test('is shown without the password', () => {
    const place = 'a.example:1,b.example:2,[::1]/p?target_session_attrs=primary'
    expect(maskDatabaseUrl(urlOf(place))).toBe(`postgres://gardener:***@${place}`)
    expect(maskDatabaseUrl(urlOf(`a.example:x,${SECRET}/p`))).not.toContain(SECRET)
  })
})
