import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'

const complete = {
  PLANT_STORE_JWKS_URL: 'https://issuer.test/keys',
  PLANT_STORE_JWT_ISSUER: 'https://issuer.test/',
  PLANT_STORE_JWT_AUDIENCE: 'plants',
}
const { PLANT_STORE_JWKS_URL: _url, ...withoutKeys } = complete

function problemsOf(environment: Record<string, string>): string[] {
  try {
    loadConfig({}, [], environment)
    return []
  } catch (error) {
    return (error as Error).message.split('\n').map((line) => line.trim())
  }
}

describe('the settings of JWTs', () => {
  test('are taken together', () => {
    expect(loadConfig({}, [], complete)).toMatchObject({
      jwksUrl: 'https://issuer.test/keys',
      jwtIssuer: 'https://issuer.test/',
      jwtAudience: 'plants',
    })
  })

  test.each([
    'https://issuer.test:8443/keys?tenant=a',
    'http://localhost/keys',
    'http://127.0.0.1:8080/keys',
    'http://[::1]:8080/keys',
  ])('take keys from %s', (url) => {
    expect(problemsOf({ ...complete, PLANT_STORE_JWKS_URL: url })).toEqual([])
  })

  test.each([
    '',
    'http://issuer.test/keys',
    'http://localhost.issuer.test/keys',
    'https://user:secret@issuer.test/keys',
    'file:///etc/keys.json',
  ])('take no keys from %j', (url) => {
    const [problem, ...others] = problemsOf({ ...complete, PLANT_STORE_JWKS_URL: url })
    expect(problem).toMatch(/^PLANT_STORE_JWKS_URL: must be an https:\/\/ address, or an http:/)
    expect(others).toEqual([])
  })
})

describe('settings of JWTs that conflict are refused:', () => {
  const needs = (name: string, keys: string) =>
    `${name}: must be set with ${keys}, or any token would do`

  test('keys by address and by file', () => {
    expect(problemsOf({ ...complete, PLANT_STORE_JWKS_FILE: 'keys.json' })).toEqual([
      'PLANT_STORE_JWKS_URL: cannot be set together with PLANT_STORE_JWKS_FILE',
    ])
  })

  test('keys without an issuer and an audience', () => {
    expect(problemsOf({ PLANT_STORE_JWKS_URL: 'https://issuer.test/keys' })).toEqual([
      needs('PLANT_STORE_JWT_ISSUER', 'PLANT_STORE_JWKS_URL'),
      needs('PLANT_STORE_JWT_AUDIENCE', 'PLANT_STORE_JWKS_URL'),
    ])
    expect(problemsOf({ PLANT_STORE_JWKS_FILE: 'keys.json', PLANT_STORE_JWT_ISSUER: 'a' })).toEqual(
      [needs('PLANT_STORE_JWT_AUDIENCE', 'PLANT_STORE_JWKS_FILE')],
    )
  })

  test('an empty audience', () => {
    expect(problemsOf({ ...complete, PLANT_STORE_JWT_AUDIENCE: '' })).toEqual([
      'PLANT_STORE_JWT_AUDIENCE: must not be empty (it is "")',
    ])
  })

  test('an issuer and an audience without keys', () => {
    expect(problemsOf(withoutKeys)).toEqual(
      ['ISSUER', 'AUDIENCE'].map(
        (name) =>
          `PLANT_STORE_JWT_${name}: means nothing without PLANT_STORE_JWKS_URL or PLANT_STORE_JWKS_FILE`,
      ),
    )
  })
})
