import { describe, expect, test } from 'vitest'
import { Issuer } from './issuer.ts'
import {
  good,
  MINUTE_MS,
  SECOND_MS,
  someKey,
  startJwtService,
  startWithKey,
} from './jwt-service.ts'
import { makeKey } from './sign-jwt.ts'

const newKey = makeKey('new')

/** Longer than the cool-down, and shorter than the time after which keys are read again anyway. */
const A_WHILE_MS = MINUTE_MS

describe('the keys of an issuer', { timeout: 60_000 }, () => {
  test('are fetched again once per cool-down under 200 requests with unknown kids', async () => {
    const { issuer, statusOf, pass } = await startWithKey()
    const tokens = Array.from({ length: 200 }, (_, n) => good({}, { kid: `unknown${n}` }))
    const storm = async () => new Set(await Promise.all(tokens.map((token) => statusOf(token))))
    // Those that find no place to wait for the keys are answered 503.
    const judgedOrNot = [new Set([401]), new Set([401, 503])]
    pass(A_WHILE_MS)
    expect(judgedOrNot).toContainEqual(await storm())
    expect(issuer.fetches).toBe(2)
    pass(9.9 * SECOND_MS)
    expect(await storm()).toEqual(new Set([401]))
    expect(issuer.fetches).toBe(2)
    pass(0.1 * SECOND_MS)
    expect(judgedOrNot).toContainEqual(await storm())
    expect(issuer.fetches).toBe(3)
  })

  test('are not fetched for tokens that no key could save', async () => {
    const { issuer, statusOf, pass } = await startWithKey()
    pass(A_WHILE_MS)
    for (const token of [
      'a.b.c',
      good({ exp: 1 }),
      good({}, { kid: 'unknown', alg: 'HS256' }),
      good({}, { kid: 'unknown', crit: ['x'] }),
      good({}, { kid: 7 }),
      good({}, {}, makeKey('some')),
    ]) {
      expect(await statusOf(token)).toBe(401)
    }
    expect(issuer.fetches).toBe(1)
  })

  test('that were withdrawn stop working within 5 minutes, remembered or not', async () => {
    const service = await startWithKey(new Issuer(someKey, newKey))
    const { token, issuer, statusOf, authenticate, pass, logLines } = service
    expect(authenticate.isKnown(token)).toBe(true)
    issuer.keys = [newKey]
    pass(5 * MINUTE_MS)
    expect(await statusOf(token)).toBe(401)
    expect(authenticate.isKnown(token)).toBe(false)
    expect(await statusOf(good({ exp: 4e9 }, {}, newKey))).toBe(200)
    issuer.keys = []
    pass(5 * MINUTE_MS)
    expect(await statusOf(good({ exp: 4e9 }, {}, newKey))).toBe(401)
    expect(logLines.join('')).toMatch(/"level":40.*"usable":\[\].*took new keys/)
  })

  test('that were withdrawn are forgotten as soon as that is known', async () => {
    const { issuer, statusOf, authenticate, pass } = await startJwtService()
    const token = good()
    const connection = {}
    expect(await authenticate(token, connection)).toBeDefined()
    issuer.keys = [newKey]
    pass(A_WHILE_MS)
    expect(await authenticate(token, connection)).toBeDefined()
    expect(await statusOf(good({}, {}, newKey))).toBe(200)
    expect(await authenticate(token, connection)).toBeUndefined()
    expect(await authenticate(token, {})).toBeUndefined()
  })

  test('that are not usable are left out and logged', async () => {
    const { privateKey } = makeKey('private')
    const with_ = (differences: object) => ({ ...someKey, jwk: { ...someKey.jwk, ...differences } })
    const issuer = new Issuer(
      with_({ kid: 'encryption', use: 'enc' }),
      with_({ kid: 'wrapping', key_ops: ['wrapKey'] }),
      with_({ kid: 'curve', crv: 'P-521' }),
      with_({ kid: 'broken', x: 'AAAA' }),
      with_({ kid: 'private', ...privateKey.export({ format: 'jwk' }) }),
      with_({ kid: 'other', alg: 'ES384' }),
      with_({ kid: 'strange', kty: 'QP' }),
      someKey,
    )
    const { statusOf, logLines } = await startWithKey(issuer)
    const logged = JSON.parse(logLines.find((line) => line.includes('took new keys')) ?? '')
    expect(logged.usable).toEqual(['some (EC)'])
    expect(logged.ignored.map((key: string) => key.split(' ')[0])).toEqual([
      ...['encryption', 'wrapping', 'curve', 'broken', 'private', 'other', 'strange'],
    ])
    for (const kid of ['encryption', 'private']) {
      expect(await statusOf(good({}, { kid }))).toBe(401)
    }
  })
})

describe('a JWT', { timeout: 60_000 }, () => {
  test('without a kid finds the key that an issuer has changed to', async () => {
    const { issuer, statusOf, pass } = await startJwtService()
    expect(await statusOf(good({}, { kid: undefined }))).toBe(200)
    issuer.keys = [newKey]
    pass(A_WHILE_MS)
    expect(await statusOf(good({}, { kid: undefined }, newKey))).toBe(200)
    expect(await statusOf(good({}, { kid: undefined }))).toBe(401)
  })

  test('whose kid two keys share is tried with both', async () => {
    const keys = [makeKey('same'), makeKey('same'), makeKey('same', 'RS256')]
    const { statusOf } = await startJwtService({ issuer: new Issuer(...keys) })
    for (const key of keys) expect(await statusOf(good({}, {}, key))).toBe(200)
    expect(await statusOf(good({}, {}, makeKey('same')))).toBe(401)
  })

  test('that was accepted stops at its expiry, on its connection and on others', async () => {
    const { issuer, statusOf, authenticate, pass } = await startJwtService()
    const token = good()
    const connection = {}
    expect(await statusOf(token)).toBe(200)
    expect(await authenticate(token, connection)).toMatchObject({ name: 'jwt:gardener' })
    pass(630 * SECOND_MS - 1)
    await authenticate(token, connection)
    expect(authenticate(token, connection)).toMatchObject({ name: 'jwt:gardener' })
    expect(await statusOf(token)).toBe(200)
    pass(1)
    expect(authenticate(token, connection)).toBeUndefined()
    expect(await statusOf(token)).toBe(401)
    expect(issuer.fetches).toBe(2)
  })

  test('that was verified is known without a promise, and only it', async () => {
    const { authenticate } = await startJwtService()
    const token = good()
    await authenticate(token, {})
    expect(authenticate(token, {})).toMatchObject({ name: 'jwt:gardener' })
    expect(authenticate(good({ sub: 'another' }), {})).toBeInstanceOf(Promise)
    expect(await authenticate(good({ sub: 'another' }), {})).toMatchObject({ name: 'jwt:another' })
  })

  test('is known by itself only, once it was verified', async () => {
    const { authenticate } = await startJwtService()
    expect(authenticate.isKnown(good())).toBe(false)
    const token = good()
    await authenticate(token, {})
    await authenticate(good({ exp: 1 }), {})
    expect(authenticate.isKnown(token)).toBe(true)
    expect(authenticate.isKnown(good({ exp: 1 }))).toBe(false)
  })

  test('that is garbage is refused without a promise', async () => {
    const { authenticate } = await startJwtService()
    for (const token of ['x', 'a.b.c', '..', 'eyJhbGciOiJub25lIn0.e30.', 'x'.repeat(9_000)]) {
      expect(authenticate(token, {})).toBeUndefined()
    }
  })
})
