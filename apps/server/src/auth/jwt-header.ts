import * as z from 'zod'

/** Longer than any token of the known issuers; it is kept with each connection that shows it. */
const MOST_CHARACTERS = 8_192

/**
 * An access token says `at+jwt` (RFC 9068 §2.1), but most issuers still write `JWT` or nothing, so
 * that is taken too. Another type is a token for another purpose (RFC 8725 §3.11).
 */
const TYPE = /^(?:application\/)?(?:at\+)?jwt$/i

/** What a header must be; `jku`, `jwk`, `x5u` and `x5c` are ignored, for only the issuer tells keys. */
const JwtHeader = z.object({
  alg: z.string(),
  kid: z.string().optional(),
  typ: z.string().regex(TYPE).optional(),
  // No extension is understood here, so none may be critical (RFC 7515 §4.1.11).
  crit: z.undefined().optional(),
})
export type JwtHeader = z.infer<typeof JwtHeader>

/**
 * The header of what might be a JWT, unverified; undefined for everything that cannot be one that
 * is taken here. This is what garbage costs: no digest, no key, no promise.
 */
export function readJwtHeader(
  credential: string,
  algorithms: readonly string[],
): JwtHeader | undefined {
  const end = credential.indexOf('.')
  if (end <= 0 || credential.length > MOST_CHARACTERS) return undefined
  if (credential.split('.', 4).length !== 3) return undefined
  try {
    const text = Buffer.from(credential.slice(0, end), 'base64url').toString()
    const { data: header } = JwtHeader.safeParse(JSON.parse(text))
    return header !== undefined && algorithms.includes(header.alg) ? header : undefined
  } catch {
    return undefined
  }
}
