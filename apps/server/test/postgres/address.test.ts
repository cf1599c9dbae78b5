import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readPostgresUrl } from '../../src/store/postgres/address.ts'
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

test.each([
  'localhost/plants',
  '127.0.0.1:5433/plants',
  '127.9.9.9/plants',
  '[::1]:5433/plants',
  '%2Fvar%2Frun%2Fpostgresql/plants',
])('%s stays on this machine, so plain text needs no word', (place) => {
  expect(readPostgresUrl(urlOf(place)).config.ssl).toBeFalsy()
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
  const configOf = (query: string) => readPostgresUrl(urlOf(`plants.example/p?${query}`)).config

  test('sslmode=disable is plain text', () => {
    expect(configOf('sslmode=disable')).toHaveProperty('ssl', false)
  })

  test('sslmode=require encrypts and trusts any certificate', () => {
    expect(configOf('sslmode=require')).toHaveProperty('ssl', { rejectUnauthorized: false })
  })

  test('sslmode=verify-full encrypts and checks the certificate and its name', () => {
    const { ssl } = configOf('sslmode=verify-full')
    expect(ssl).toBeTypeOf('object')
    expect(ssl).not.toHaveProperty('rejectUnauthorized', false)
    expect(ssl).not.toHaveProperty('checkServerIdentity')
  })

  test.each([
    'sslmode=verify-full&sslmode=disable',
    'sslmode=verify-full&ssl=0',
    'sslmode=verify-full&ssl=false',
    'sslmode=verify-full&uselibpqcompat=false',
  ])('%s is either refused or encrypted', (query) => {
    let ssl: unknown
    try {
      ssl = configOf(query).ssl
    } catch (error) {
      expect(error).toBeInstanceOf(StoreRefusedError)
      return
    }
    expect(ssl).toBeTypeOf('object')
    expect(ssl).not.toHaveProperty('rejectUnauthorized', false)
  })
})

test.each([
  ['plants.example:5433/plants?sslmode=require', 'plants.example:5433/plants'],
  ['127.0.0.1/plants', '127.0.0.1:5432/plants'],
])('the place of %s is told as %s', (place, told) => {
  expect(readPostgresUrl(urlOf(place)).place).toBe(told)
})

test.each([
  'plants.example/plants',
  'plants.example/plants?sslmode=tls',
  'plants.example/plants?sslmode=verify-ca',
  'plants.example/plants?sslmode=verify-full&sslrootcert=/nowhere/root.crt',
  'plants.example:99999/plants',
  'plants example/plants',
  '[::1/plants',
])('%s is refused in words that do not hold the password', (place) => {
  const error = refusalOf(place)
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(SECRET)
  expect(error).toBeInstanceOf(StoreRefusedError)
})
