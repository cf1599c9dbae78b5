import * as z from 'zod'
import type { JwtRules } from './verify-jwt.ts'

/** Longer than any token of well-known issuers; each connection keeps the token that it showed. */
const MOST_CHARACTERS = 8_192

/**
 * The type of an access token is `at+jwt` (RFC 9068 §2.1), but most issuers write `JWT` or nothing,
 * so these are accepted too unless a setting forbids them: an ID token is a `JWT` as well. Any other
 * type is a token for another purpose (RFC 8725 §3.11).
 */
const TYPE = /^(?:application\/)?(at\+)?jwt$/i

/** A header that is accepted; `jku`, `jwk`, `x5u` and `x5c` are ignored: keys come only from the issuer. */
const JwtHeader = z.object({
  alg: z.string(),
  kid: z.string().optional(),
  typ: z.string().regex(TYPE).optional(),
  // No extension is understood here, so none may be critical (RFC 7515 §4.1.11).
  crit: z.undefined().optional(),
})
export type JwtHeader = z.infer<typeof JwtHeader>

/** Whether a text is base64url (RFC 7515 §2), and the canonical encoding of its bytes (RFC 4648 §3.5). */
function isBase64url(text: string): boolean {
  return Buffer.from(text, 'base64url').toString('base64url') === text
}

/**
 * The unverified header of a credential that may be an acceptable JWT; undefined for any other, which
 * costs no digest, no key and no promise.
 */
export function readJwtHeader(
  credential: string,
  { algorithms, types }: Pick<JwtRules, 'algorithms' | 'types'>,
): JwtHeader | undefined {
  const end = credential.indexOf('.')
  if (end <= 0 || credential.length > MOST_CHARACTERS) return undefined
  const parts = credential.split('.', 4)
  if (parts.length !== 3 || !parts.every(isBase64url)) return undefined
  try {
    const text = Buffer.from(credential.slice(0, end), 'base64url').toString()
    const { data: header } = JwtHeader.safeParse(JSON.parse(text))
    if (header === undefined || !algorithms.includes(header.alg)) return undefined
    const isAccessToken = TYPE.exec(header.typ ?? '')?.[1] !== undefined
    return types === 'any' || isAccessToken ? header : undefined
  } catch {
    return undefined
  }
}
