import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** Signs with node:crypto, so that what jose verifies was not made by jose. */
const signers: Record<string, (data: Buffer, key: KeyObject) => Buffer> = {
  RS256: (data, key) => sign('sha256', data, key),
  PS256: (data, key) =>
    sign('sha256', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }),
  ES256: (data, key) => sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' }),
  EdDSA: (data, key) => sign(null, data, key),
  Ed25519: (data, key) => sign(null, data, key),
}

function generate(alg: string, bits: number) {
  if (alg.startsWith('ES')) return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  if (alg.startsWith('Ed')) return generateKeyPairSync('ed25519')
  return generateKeyPairSync('rsa', { modulusLength: bits })
}

export type SigningKey = ReturnType<typeof makeKey>

/** A key of an issuer, and its entry in the key set. */
export function makeKey(kid: string, alg = 'ES256', bits = 2048) {
  const { privateKey, publicKey } = generate(alg, bits)
  const jwk: Json = { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' }
  return { kid, alg, privateKey, publicKey, jwk }
}

/** The same key, published with other members. */
export function withJwk(key: SigningKey, members: Json): SigningKey {
  return { ...key, jwk: { ...key.jwk, ...members } }
}

export type Json = Record<string, unknown>

export function encodePart(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return Buffer.from(text).toString('base64url')
}

/** A JWT over any header and payload, each a value or its JSON text. */
export function signJwt(
  key: SigningKey,
  payload: Json | string,
  header: Json | string = {},
): string {
  const whole = typeof header === 'string' ? header : { alg: key.alg, kid: key.kid, ...header }
  const data = `${encodePart(whole)}.${encodePart(payload)}`
  const signature = signers[key.alg]?.(Buffer.from(data), key.privateKey)
  return `${data}.${signature?.toString('base64url')}`
}

/** A JWT with a MAC, for attacks on who mistakes a public key for a secret. */
export function macJwt(secret: string | Buffer, payload: Json, header: Json): string {
  const data = `${encodePart(header)}.${encodePart(payload)}`
  return `${data}.${createHmac('sha256', secret).update(data).digest('base64url')}`
}
