import type { webcrypto } from 'node:crypto'
import { errors, type JWTVerifyOptions, jwtVerify } from 'jose'
import * as z from 'zod'
import { ALGORITHMS, type KeySet } from './key-set.ts'

/** How far the clocks of issuer and server may differ. */
export const CLOCK_SKEW_SECONDS = 30

export interface JwtRules {
  readonly issuer: string
  readonly audience: string
}

/** Longer than any token of well-known issuers; each connection keeps the token that it showed. */
const MOST_CHARACTERS = 8_192

/**
 * The type of an access token is `at+jwt` (RFC 9068 §2.1), but most issuers write `JWT` or nothing,
 * so these are accepted too: an ID token is a `JWT` as well. Any other type is a token for another
 * purpose (RFC 8725 §3.11).
 */
const TYPE = /^(?:application\/)?(?:at\+)?jwt$/i

/** A header that is accepted; `jku`, `jwk`, `x5u` and `x5c` are ignored: keys come only from the issuer. */
const JwtHeader = z.object({
  alg: z.string(),
  kid: z.string().optional(),
  typ: z.string().regex(TYPE).optional(),
  // No extension is understood here, so none may be critical (RFC 7515 §4.1.11).
  crit: z.undefined().optional(),
})
type JwtHeader = z.infer<typeof JwtHeader>

/** Whether a text is base64url (RFC 7515 §2), and the canonical encoding of its bytes (RFC 4648 §3.5). */
function isBase64url(text: string): boolean {
  return Buffer.from(text, 'base64url').toString('base64url') === text
}

/**
 * The unverified header of a credential that may be an acceptable JWT; undefined for any other, which
 * costs no digest, no key and no promise.
 */
export function readJwtHeader(credential: string): JwtHeader | undefined {
  const end = credential.indexOf('.')
  if (end <= 0 || credential.length > MOST_CHARACTERS) return undefined
  const parts = credential.split('.', 4)
  if (parts.length !== 3 || !parts.every(isBase64url)) return undefined
  try {
    const text = Buffer.from(credential.slice(0, end), 'base64url').toString()
    const { data: header } = JwtHeader.safeParse(JSON.parse(text))
    return header !== undefined && ALGORITHMS.includes(header.alg) ? header : undefined
  } catch {
    return undefined
  }
}

/** How many keys are tried for a JWT that names none; each costs the check of a signature. */
const MOST_TRIES = 4

/**
 * `sub` is required although it is optional in RFC 7519 (in RFC 9068 it is not): it says who stored a
 * plant. `exp` is required because a token that never expires could never be withdrawn.
 */
const Claims = z.object({ sub: z.string().min(1), exp: z.number() })
export type Claims = z.infer<typeof Claims>

/** `unknown_key`: not verified by these keys, but perhaps by a newer one. */
export type Verification = Claims | 'refused' | 'unknown_key'

class TooManyKeys extends errors.JOSEError {
  override code = `more than ${MOST_TRIES} keys fit a JWT that names none of its own`
}

async function verifySignature(
  credential: string,
  { find }: KeySet,
  options: JWTVerifyOptions,
): Promise<unknown> {
  try {
    return (await jwtVerify(credential, find, options)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    // Without a kid, or with a kid that two keys share, each key that fits is tried.
    const fitting: webcrypto.CryptoKey[] = []
    for await (const key of error) {
      if (fitting.push(key) > MOST_TRIES) throw new TooManyKeys()
    }
    for (const key of fitting) {
      try {
        return (await jwtVerify(credential, key, options)).payload
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

/**
 * Checks a JWT by RFC 7519 §7.2 and RFC 8725: signature, issuer, audience, `exp`, `nbf`. `iat` must be
 * a number, but its value does not matter (RFC 7519 §4.1.6).
 * @param onRefused is called with the reason in jose's words; it contains nothing of the token.
 */
export async function verifyJwt(
  credential: string,
  keys: KeySet,
  rules: JwtRules & { readonly hasKid: boolean; readonly now: number },
  onRefused: (reason: object) => void,
): Promise<Verification> {
  try {
    const payload = await verifySignature(credential, keys, {
      algorithms: [...ALGORITHMS],
      issuer: rules.issuer,
      audience: rules.audience,
      clockTolerance: CLOCK_SKEW_SECONDS,
      currentDate: new Date(rules.now),
    })
    return Claims.parse(payload)
  } catch (error) {
    if (error instanceof z.ZodError) {
      onRefused({ claim: error.issues[0]?.path.join() })
      return 'refused'
    }
    if (!(error instanceof errors.JOSEError)) throw error
    const { code, claim } = error as errors.JOSEError & { claim?: string }
    onRefused({ code, claim })
    if (error instanceof errors.JWKSNoMatchingKey) return 'unknown_key'
    // An issuer whose tokens name no keys cannot announce a new one.
    const mayBeNewKey = error instanceof errors.JWSSignatureVerificationFailed && !rules.hasKid
    return mayBeNewKey ? 'unknown_key' : 'refused'
  }
}
