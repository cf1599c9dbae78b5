import { describe, expect, test } from 'vitest'
import { Issuer } from './issuer.ts'
import {
  AUDIENCE,
  claims,
  good,
  ISSUER,
  START,
  someKey,
  startJwtService,
  useJwtService,
} from './jwt-service.ts'
import { encodePart, type Json, macJwt, makeKey, signJwt } from './sign-jwt.ts'

const NOW = START / 1000
const shared = useJwtService()

const invalid = {
  status: 401,
  error: 40101,
  message: 'the token is not valid',
  retryAfter: null,
  challenge: 'Bearer realm="plant-store", error="invalid_token"',
}

describe('a JWT is accepted', { timeout: 60_000 }, () => {
  test.each(['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'])('signed with %s', async (alg) => {
    const key = makeKey('this', alg)
    const { statusOf } = await startJwtService({ issuer: new Issuer(someKey, key) })
    expect(await statusOf(good({}, {}, key))).toBe(200)
  })

  test.each<[claim: string, differences: Json]>([
    ['with the audience among others', { aud: ['others', AUDIENCE] }],
    ['that expired 29 s ago, because clocks differ', { exp: NOW - 29 }],
    ['that begins in 30 s, because clocks differ', { nbf: NOW + 30 }],
    ['made in the future, which RFC 7519 does not judge', { iat: NOW + 3600 }],
    ['that lasts a millennium', { exp: NOW + 31_557_600_000 }],
    ['with claims that nobody knows', { scope: 'all', nested: { deep: [1] } }],
  ])('%s', async (_claim, differences) => {
    expect(await shared.statusOf(good(differences))).toBe(200)
  })

  test.each<[typ: string]>([['JWT'], ['jwt'], ['at+jwt'], ['AT+JWT'], ['application/at+jwt']])(
    'of the type %s',
    async (typ) => {
      expect(await shared.statusOf(good({}, { typ }))).toBe(200)
    },
  )

  test('under its subject in the log, without anything harmful', async () => {
    const { create, logLines } = await startJwtService()
    const sub = `auth0|ann\n{"level":60}\u001b[31m\u202e${'x'.repeat(200)}`
    expect((await create(good({ sub }), 'no plant')).status).toBe(400)
    const name = `jwt:auth0|ann___level_:60___31m_${'x'.repeat(36)}`
    expect(JSON.parse(logLines.at(-1) ?? '')).toMatchObject({ tokenName: name, status: 400 })
  })
})

describe('a JWT is refused, always in the same words,', { timeout: 60_000 }, () => {
  test.each<[claim: string, differences: Json]>([
    ['of another issuer', { iss: 'https://other.test/' }],
    ['of an issuer that only begins like it', { iss: `${ISSUER}x` }],
    ['of a list of issuers', { iss: [ISSUER] }],
    ['without an issuer', { iss: undefined }],
    ['for another audience', { aud: 'animals' }],
    ['for other audiences', { aud: ['animals', `${AUDIENCE}s`] }],
    ['for an object as audience', { aud: { [AUDIENCE]: true } }],
    ['for no audience', { aud: undefined }],
    ['for an empty list of audiences', { aud: [] }],
    ['that ended 30 s ago', { exp: NOW - 30 }],
    ['that ended long ago', { exp: 1 }],
    ['without an end', { exp: undefined }],
    ['whose end is a string', { exp: String(NOW + 600) }],
    ['whose end is null', { exp: null }],
    ['that begins in 31 s', { nbf: NOW + 31 }],
    ['whose beginning is a string', { nbf: '0' }],
    ['whose time of making is a string', { iat: '0' }],
    ['without a subject', { sub: undefined }],
    ['with an empty subject', { sub: '' }],
    ['with a number as subject', { sub: 7 }],
    ['with an object as subject', { sub: { toString: 'x' } }],
  ])('%s', async (_claim, differences) => {
    expect(await shared.create(good(differences))).toEqual(invalid)
  })

  test.each<[claim: string, header: Json]>([
    ['with a critical extension', { crit: ['exp2'], exp2: 1 }],
    ['with the critical extension b64', { crit: ['b64'], b64: true }],
    ['with an empty crit', { crit: [] }],
    ['with null as crit', { crit: null }],
    ['of the type of another token', { typ: 'logout+jwt' }],
    ['with a number as type', { typ: 7 }],
    ['with a number as kid', { kid: 7 }],
    ['that names another algorithm of the same key', { alg: 'ES384' }],
    ['that names the algorithm of another key', { alg: 'RS256' }],
    ['that names an algorithm in small letters', { alg: 'es256' }],
    ['without an algorithm', { alg: undefined }],
    ['with a list of algorithms', { alg: ['ES256'] }],
  ])('%s', async (_claim, header) => {
    expect(await shared.create(good({}, header))).toEqual(invalid)
  })

  test('whose end JSON makes infinite', async () => {
    const text = JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e999')
    expect(await shared.create(signJwt(someKey, text))).toEqual(invalid)
  })

  test.each(['none', 'None', 'NONE', ''])('with the algorithm %j and no signature', async (alg) => {
    expect(await shared.create(`${encodePart({ alg })}.${encodePart(claims())}.`)).toEqual(invalid)
  })

  test('whose MAC has the public key for a secret', async () => {
    const key = makeKey('rsa', 'RS256')
    const { create } = await startJwtService({ issuer: new Issuer(key) })
    const pem = key.publicKey.export({ type: 'spki', format: 'pem' })
    const der = key.publicKey.export({ type: 'spki', format: 'der' })
    for (const secret of [pem, der, JSON.stringify(key.jwk), String(key.jwk.n), '']) {
      const token = macJwt(secret, claims(), { alg: 'HS256', kid: 'rsa' })
      expect(await create(token)).toEqual(invalid)
    }
  })

  test('with a MAC, though the key set holds its secret', async () => {
    const issuer = new Issuer(someKey, {
      ...someKey,
      jwk: { kty: 'oct', kid: 'oct', k: encodePart('secret') },
    })
    const { create } = await startJwtService({ issuer })
    const token = macJwt('secret', claims(), { alg: 'HS256', kid: 'oct' })
    expect(await create(token)).toEqual(invalid)
  })

  test('signed with another key that has the same kid', async () => {
    expect(await shared.create(good({}, {}, makeKey('some')))).toEqual(invalid)
  })

  test.each(['jwk', 'jku', 'x5u', 'x5c'])('with a key of its own in %s', async (place) => {
    const thief = makeKey('some')
    const strange = new Issuer(thief)
    await strange.start()
    const values: Json = { jwk: thief.jwk, jku: strange.url, x5u: strange.url, x5c: ['AAAA'] }
    expect(await shared.create(good({}, { [place]: values[place] }, thief))).toEqual(invalid)
    expect(await shared.statusOf(good({}, { [place]: values[place] }))).toBe(200)
    expect(strange.fetches).toBe(0)
    await strange.stop()
  })

  test('signed with an RSA key of 1024 bits', async () => {
    const short = makeKey('short', 'RS256', 1024)
    const { create, logLines } = await startJwtService({ issuer: new Issuer(someKey, short) })
    expect(await create(good({}, {}, short))).toEqual(invalid)
    expect(logLines.join('')).toContain('"ignored":["short (RSA)"]')
  })

  test('with any one character changed', async () => {
    const token = good()
    for (let index = token.length - 1; index >= 0; index -= 7) {
      const other = token[index] === 'A' ? 'B' : 'A'
      const changed = token.slice(0, index) + other + token.slice(index + 1)
      expect(await shared.create(changed), `at ${index}`).toEqual(invalid)
    }
  })

  test.each<[claim: string, make: (token: string) => string]>([
    ['with padding behind its signature', (t) => `${t}==`],
    ['with padding behind its header', (t) => t.replace('.', '=.')],
    ['with a character that stands for nothing', (t) => t.replace('.', '~.')],
    ['with a space at its end', (t) => t.replace('.', ' .')],
    ['in the alphabet of other base64', (t) => inOtherBase64(t)],
    ['with bits that stand for nothing behind its signature', (t) => withSpareBits(t)],
  ])('in another spelling of its bytes, %s', async (_claim, make) => {
    expect(await shared.create(make(good()))).toEqual(invalid)
  })

  test.each<[claim: string, make: (token: string) => string]>([
    ['with the payload of another', (t) => swap(t, encodePart(claims({ sub: 'admin' })))],
    ['without its signature', (t) => t.slice(0, t.lastIndexOf('.') + 1)],
    ['cut short', (t) => t.slice(0, -10)],
    ['with a fourth part', (t) => `${t}.AAAA`],
    ['as a JWE of five parts', (t) => `${t}.AAAA.AAAA`],
    ['of 8,193 characters', () => good({ pad: 'x'.repeat(8_000) })],
    ['whose payload is no JSON', () => signJwt(someKey, '{')],
    ['whose payload is a list', () => signJwt(someKey, '[]')],
    ['whose header is no JSON', () => signJwt(someKey, claims(), '{"alg":"ES256"')],
    ['whose header is a list', () => signJwt(someKey, claims(), '[{"alg":"ES256"}]')],
    ['whose header is null', () => signJwt(someKey, claims(), 'null')],
    ['that is dots', () => '..'],
    ['that is thousands of dots', () => '.'.repeat(8_000)],
  ])('%s', async (_claim, make) => {
    expect(await shared.create(make(good()))).toEqual(invalid)
  })
})

function swap(token: string, payload: string): string {
  const [header, , signature] = token.split('.')
  return `${header}.${payload}.${signature}`
}

/** The same bytes; signed again until a character differs in the other alphabet. */
function inOtherBase64(token: string): string {
  const other = token.replaceAll('-', '+').replaceAll('_', '/')
  return other === token ? inOtherBase64(good()) : other
}

/** The same bytes: of the last of 86 characters 4 bits are the end of 64 bytes. */
function withSpareBits(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1) ?? '') + 1]
}

test('no part of a JWT reaches the log', async () => {
  const { create, logLines } = await startJwtService()
  const tokens = [
    good({ email: 'ann@example' }),
    good({ exp: 1, email: 'ann@example' }),
    swap(good(), 'e30'),
  ]
  for (const token of tokens) await create(token)
  const log = logLines.join('')
  expect(log).toContain('ERR_JWT_EXPIRED')
  const parts = tokens.flatMap((token) => token.split('.')).filter((part) => part.length > 20)
  expect(parts).toHaveLength(8)
  for (const part of parts) expect(log).not.toContain(part)
  expect(log).not.toContain('ann@example')
})
