import type { webcrypto } from 'node:crypto'
import { createLocalJWKSet, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from 'jose'
import { displayName } from '../text/display-name.ts'

/**
 * The algorithms that may sign a JWT, all with a private key, which only the issuer has
 * (RFC 7518 §3.1, RFC 8037, RFC 9864). There is neither `none` nor HMAC (RFC 8725 §3.1, §3.2).
 */
export const ALGORITHMS: readonly string[] = [
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
  ...['PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'],
]

/** RFC 7518 §3.3. */
const LEAST_RSA_BITS = 2048

/**
 * FIPS 186-5 §A.1.1: odd, more than 2^16 and less than 2^256. With the exponent 1 each message is its
 * own signature, and signatures with small exponents have been forged with the help of other flaws.
 */
function isSoundExponent(bigEndian: Uint8Array): boolean {
  const exponent = BigInt(`0x0${Buffer.from(bigEndian).toString('hex')}`)
  return exponent % 2n === 1n && exponent > 2n ** 16n && exponent < 2n ** 256n
}

/** Issuers have a few keys. */
const MOST_KEYS = 100

/** The public keys of an issuer. */
export interface KeySet {
  /** The key for the header of a JWT. */
  readonly find: JWTVerifyGetKey
  /** For people: the keys that some algorithm can use. */
  readonly usable: readonly string[]
  /** For people: the other keys: private, symmetric, for encryption, malformed, weak, for other algorithms. */
  readonly ignored: readonly string[]
  /** Equal for equal usable keys. */
  readonly content: string
}

async function canUse(jwk: JWK, alg: string): Promise<boolean> {
  try {
    const key = await createLocalJWKSet({ keys: [jwk] })({ alg })
    const { modulusLength, publicExponent } = (key as webcrypto.CryptoKey)
      .algorithm as Partial<webcrypto.RsaHashedKeyAlgorithm>
    if (modulusLength === undefined || publicExponent === undefined) return true
    return modulusLength >= LEAST_RSA_BITS && isSoundExponent(publicExponent)
  } catch {
    return false
  }
}

function describe({ kid, kty }: JWK): string {
  return `${displayName(`${kid ?? 'no kid'}`)} (${displayName(`${kty}`)})`
}

/**
 * Reads a JWK Set (RFC 7517 §5). Keys that cannot be used are left out, as §5 asks.
 * @throws Error when the text is no key set.
 */
export async function parseKeySet(text: string): Promise<KeySet> {
  let keys: JWK[]
  try {
    const set: JSONWebKeySet = JSON.parse(text)
    createLocalJWKSet(set)
    keys = set.keys
  } catch {
    throw new Error('it is no JSON Web Key Set')
  }
  if (keys.length > MOST_KEYS) throw new Error(`it holds more than ${MOST_KEYS} keys`)
  const usable: JWK[] = []
  const ignored: JWK[] = []
  for (const jwk of keys) {
    const fits = await Promise.all(ALGORITHMS.map((alg) => canUse(jwk, alg)))
    const list = fits.includes(true) ? usable : ignored
    list.push(jwk)
  }
  return {
    find: createLocalJWKSet({ keys: usable }),
    usable: usable.map(describe),
    ignored: ignored.map(describe),
    content: JSON.stringify(usable),
  }
}
