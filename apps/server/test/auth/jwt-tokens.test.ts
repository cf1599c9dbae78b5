import { createHash } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { displayName } from '../../src/text/display-name.ts'
import { Issuer, startIssuer } from './issuer.ts'
import { AUDIENCE, claims, good, ISSUER, START, someKey, startJwtService } from './jwt-service.ts'
import { encodePart, type Json, macJwt, makeKey, signJwt, withJwk } from './sign-jwt.ts'

const NOW = START / 1000

const rs256 = makeKey('RS256', 'RS256')
const short = makeKey('short', 'RS256', 1024)
const { privateKey } = makeKey('private')
const pem = rs256.publicKey.export({ type: 'spki', format: 'pem' })
const der = rs256.publicKey.export({ type: 'spki', format: 'der' })

const withExponent = (kid: string, e: string) => withJwk(rs256, { kid, e })

const usable = [
  ...[someKey, rs256, makeKey('PS256', 'PS256')],
  ...[makeKey('EdDSA', 'EdDSA'), makeKey('Ed25519', 'Ed25519')],
  withExponent('65537 after a zero', 'AAEAAQ'),
  withExponent('4294967297', 'AQAAAAE'),
]

/** Keys that an issuer may publish, but that cannot check a JWT, or must not. */
const unusable = [
  withJwk(someKey, { kid: 'encryption', use: 'enc' }),
  withJwk(someKey, { kid: 'wrapping', key_ops: ['wrapKey'] }),
  withJwk(someKey, { kid: 'curve', crv: 'P-521' }),
  withJwk(someKey, { kid: 'broken', x: 'AAAA' }),
  withJwk(someKey, { kid: 'private', ...privateKey.export({ format: 'jwk' }) }),
  withJwk(someKey, { kid: 'other', alg: 'ES384' }),
  withJwk(someKey, { kid: 'strange', kty: 'QP' }),
  { ...someKey, jwk: { kid: 'oct', kty: 'oct', k: encodePart('secret') } },
  short,
  withExponent('1', 'AQ'),
  withExponent('3', 'Aw'),
  withExponent('17', 'EQ'),
  withExponent('65535', '__8'),
  withExponent('65536', 'AQAA'),
  withExponent('65538', 'AQAC'),
  withExponent('2^256 + 1', Buffer.from(`01${'0'.repeat(63)}1`, 'hex').toString('base64url')),
]

const issuer = new Issuer(...usable, ...unusable)
const shared = await startJwtService({ issuer, onEnd: afterAll })

const thief = makeKey('some')

/** A public key as the secret of a MAC, for whoever mistakes the one for the other. */
const macWith = (secret: string | Buffer, kid = rs256.kid) =>
  macJwt(secret, claims(), { alg: 'HS256', kid })

const unsigned = (alg: string) => `${encodePart({ alg })}.${encodePart(claims())}.`

function swap(token: string, payload: string): string {
  const [header, , signature] = token.split('.')
  return `${header}.${payload}.${signature}`
}

/** The same bytes; signed again until a character differs in the other alphabet. */
function inOtherBase64(token = good()): string {
  const other = token.replaceAll('-', '+').replaceAll('_', '/')
  return other === token ? inOtherBase64() : other
}

/** The same bytes: of the last of 86 characters 4 bits are the end of 64 bytes. */
function withSpareBits(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1) ?? '') + 1]
}

/** Its signature is EMSA-PKCS1-v1_5 (RFC 8017 §9.2), which m^1 mod n leaves as it is. */
function signedByItself(): string {
  const data = `${encodePart({ alg: 'RS256', kid: '1' })}.${encodePart(claims())}`
  const info = Buffer.from('3031300d060960864801650304020105000420', 'hex')
  const digest = Buffer.concat([info, createHash('sha256').update(data).digest()])
  const padding = Buffer.alloc(256 - 3 - digest.length, 0xff)
  const encoded = Buffer.concat([Buffer.from([0, 1]), padding, Buffer.from([0]), digest])
  return `${data}.${encoded.toString('base64url')}`
}

/** Gives the first value of a member that stands twice. */
function twice(name: string, first: unknown, part: Json): string {
  return JSON.stringify(part).replace('{', `{${JSON.stringify(name)}:${JSON.stringify(first)},`)
}

const infiniteEnd = JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e999')

/** Each member with each of its values. */
function eachOf(table: Readonly<Record<string, readonly unknown[]>>) {
  return Object.entries(table).flatMap(([name, values]) =>
    values.map((value) => [name, value, { [name]: value }] as const),
  )
}

describe('a JWT is accepted', () => {
  test.each<[claim: string, token: string]>([
    ...usable.map((key): [string, string] => [`signed for ${key.alg}`, good({}, {}, key)]),
    ['with the audience among others', good({ aud: ['others', AUDIENCE] })],
    ['that expired 29 s ago, because clocks differ', good({ exp: NOW - 29 })],
    ['that begins in 30 s, because clocks differ', good({ nbf: NOW + 30 })],
    ['made in the future, which RFC 7519 does not judge', good({ iat: NOW + 3600 })],
    ['that lasts a millennium', good({ exp: NOW + 31_557_600_000 })],
    ['with claims that nobody knows', good({ scope: 'all', nested: { deep: [1] } })],
    ...['JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt'].map((typ): [string, string] => [
      `of the type ${typ}`,
      good({}, { typ }),
    ]),
    ['whose last of two issuers is right', signJwt(someKey, twice('iss', 'other', claims()))],
    [
      'whose last of two algorithms is right',
      signJwt(someKey, claims(), twice('alg', 'none', { alg: 'ES256', kid: 'some' })),
    ],
  ])('%s', async (_claim, token) => {
    expect(await shared.statusOf(token)).toBe(200)
  })

  test('under its subject in the log, without anything harmful', async () => {
    const sub = `auth0|ann\n{"level":60}\u001b[31m\u202e${'x'.repeat(200)}`
    expect((await shared.create(good({ sub }), 'no plant')).status).toBe(400)
    const tokenName = `jwt:auth0|ann___level_:60___31m_${'x'.repeat(36)}`
    expect(JSON.parse(shared.logLines.at(-1) ?? '')).toMatchObject({ tokenName, status: 400 })
  })
})

describe('a JWT is refused, always in the same words,', () => {
  const invalid = {
    status: 401,
    error: 40101,
    message: 'the token is not valid',
    retryAfter: null,
    challenge: 'Bearer realm="plant-store", error="invalid_token"',
  }

  const refusedClaims = {
    iss: ['https://other.test/', `${ISSUER}x`, [ISSUER], undefined],
    aud: ['animals', ['animals', `${AUDIENCE}s`], { [AUDIENCE]: true }, undefined, []],
    exp: [NOW - 30, 1, undefined, String(NOW + 600), null],
    nbf: [NOW + 31, '0'],
    iat: ['0'],
    sub: [undefined, '', 7, { toString: 'x' }],
  }

  test.each(eachOf(refusedClaims))('with the claim %s %j', async (_name, _value, claims) => {
    expect(await shared.create(good(claims))).toEqual(invalid)
  })

  const refusedHeaders = {
    crit: [['exp2'], ['b64'], [], null],
    typ: ['logout+jwt', 7],
    kid: [7, 'encryption', 'private'],
    // Another one of the same key, that of another key, small letters, none.
    alg: ['ES384', 'RS256', 'es256', undefined, ['ES256']],
  }

  test.each(eachOf(refusedHeaders))('with %s %j in its header', async (_name, _value, header) => {
    expect(await shared.create(good({}, { exp2: 1, b64: true, ...header }))).toEqual(invalid)
  })

  test.each<[claim: string, token: string]>([
    [
      'whose last of two issuers is another',
      signJwt(someKey, twice('iss', ISSUER, claims({ iss: 'x' }))),
    ],
    ['whose end JSON makes infinite', signJwt(someKey, infiniteEnd)],
    ...['none', 'None', 'NONE', ''].map((alg): [string, string] => [
      `with the algorithm "${alg}" and no signature`,
      unsigned(alg),
    ]),
    ['whose MAC has the public key as PEM for a secret', macWith(pem)],
    ['whose MAC has the public key as DER for a secret', macWith(der)],
    ['whose MAC has the public JWK for a secret', macWith(JSON.stringify(rs256.jwk))],
    ['whose MAC has the modulus for a secret', macWith(String(rs256.jwk.n))],
    ['whose MAC has no secret', macWith('')],
    ['whose MAC has a secret that the key set holds', macWith('secret', 'oct')],
    ['signed with another key that has the same kid', good({}, {}, thief)],
    ['signed with an RSA key of 1024 bits', good({}, {}, short)],
    ['that is its own signature, as the RSA exponent 1 has it', signedByItself()],
    ['with padding behind its signature', `${good()}==`],
    ['with padding behind its header', good().replace('.', '=.')],
    ['with a character that stands for nothing', good().replace('.', '~.')],
    ['with a space behind its header', good().replace('.', ' .')],
    ['in the alphabet of other base64', inOtherBase64()],
    ['with bits that stand for nothing behind its signature', withSpareBits(good())],
    ['with the payload of another', swap(good(), encodePart(claims({ sub: 'admin' })))],
    ['without its signature', good().replace(/[^.]+$/, '')],
    ['cut short', good().slice(0, -10)],
    ['with a fourth part', `${good()}.AAAA`],
    ['as a JWE of five parts', `${good()}.AAAA.AAAA`],
    ['of more than 8,192 characters', good({ pad: 'x'.repeat(8_000) })],
    ['whose payload is no JSON', signJwt(someKey, '{')],
    ['whose payload is a list', signJwt(someKey, '[]')],
    ['whose header is no JSON', signJwt(someKey, claims(), '{"alg":"ES256"')],
    ['whose header is a list', signJwt(someKey, claims(), '[{"alg":"ES256"}]')],
    ['whose header is null', signJwt(someKey, claims(), 'null')],
    ['that is dots', '..'],
    ['that is thousands of dots', '.'.repeat(8_000)],
  ])('%s', async (_claim, token) => {
    expect(await shared.create(token)).toEqual(invalid)
  })

  test.each(['jwk', 'jku', 'x5u', 'x5c'])('with a key of its own in %s', async (place) => {
    const strange = await startIssuer(thief)
    const values: Json = { jwk: thief.jwk, jku: strange.url, x5u: strange.url, x5c: ['AAAA'] }
    expect(await shared.create(good({}, { [place]: values[place] }, thief))).toEqual(invalid)
    expect(await shared.statusOf(good({}, { [place]: values[place] }))).toBe(200)
    expect(strange.fetches).toBe(0)
  })

  test('with any one character changed', async () => {
    const token = good()
    for (let index = token.length - 1; index >= 0; index -= 7) {
      const other = token[index] === 'A' ? 'B' : 'A'
      const changed = token.slice(0, index) + other + token.slice(index + 1)
      expect(await shared.create(changed), `at ${index}`).toEqual(invalid)
    }
  })
})

const strange: unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, '', 'x', '\u0000', '\ud800', [], {}, [null]],
  ...[['b64'], ['ES256'], { toString: 'x' }, '__proto__', 'constructor', 'x'.repeat(2000)],
]

/** A caller may only learn whether the JWT is good: no value causes any other error. */
test('whatever a header or a claim holds, a JWT is accepted or refused', async () => {
  // Members of a header that are not checked may hold anything.
  const headers = ['alg', 'kid', 'typ', 'crit']
  const unchecked = ['cty', 'b64', 'jku', 'jwk', 'x5u', 'x5t', 'zip', 'enc']
  const names = ['iss', 'aud', 'sub', 'exp', 'nbf', 'iat', 'jti', '__proto__', 'constructor']
  const accepted = new Set<string>()
  for (const value of strange) {
    const tokens = [
      ...[...headers, ...unchecked].map((name) => [name, good({}, { [name]: value })] as const),
      ...names.map((name) => [name, good({ [name]: value })] as const),
    ]
    for (const [name, token] of tokens) {
      if ((await shared.authenticate(token, {})) !== undefined) accepted.add(name)
    }
  }
  const judged = [...accepted].filter((name) => !unchecked.includes(name))
  const whole = ['__proto__', 'constructor', 'exp', 'iat', 'jti', 'nbf', 'sub']
  expect(judged.toSorted()).toEqual(whole)
  expect(shared.logLines.filter((line) => JSON.parse(line).level >= 50)).toEqual([])
})

test('keys that are not usable are left out, and logged', () => {
  const logged = JSON.parse(shared.logLines.find((line) => line.includes('took new keys')) ?? '')
  for (const [list, keys] of Object.entries({ usable, ignored: unusable })) {
    const kids = logged[list].map((key: string) => key.replace(/ \(\w+\)$/, ''))
    expect(kids).toEqual(keys.map(({ jwk }) => displayName(String(jwk.kid))))
  }
})

test('no part of a JWT reaches the log', async () => {
  const email = 'ann@example'
  const tokens = [good({ email }), good({ exp: 1, email }), swap(good(), 'e30')]
  for (const token of tokens) await shared.create(token)
  const log = shared.logLines.join('')
  expect(log).toContain('ERR_JWT_EXPIRED')
  const parts = tokens.flatMap((token) => token.split('.')).filter((part) => part.length > 20)
  expect(parts).toHaveLength(8)
  for (const part of [...parts, email]) expect(log).not.toContain(part)
})
