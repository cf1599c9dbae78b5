import type { webcrypto } from 'node:crypto'
import { errors, type JWTVerifyOptions, jwtVerify } from 'jose'
import * as z from 'zod'
import type { KeySet } from './key-set.ts'

/** How far the clocks of issuer and server may differ. */
export const CLOCK_SKEW_SECONDS = 30

export interface JwtRules {
  readonly issuer: string
  readonly audience: string
  readonly algorithms: readonly string[]
  /** `any` accepts `JWT` and no type as well. */
  readonly types: 'any' | 'at+jwt'
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
      algorithms: [...rules.algorithms],
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
