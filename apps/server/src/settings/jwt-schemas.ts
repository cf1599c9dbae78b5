import * as z from 'zod'

/**
 * What a JWT may be signed with: signatures by a private key, which only the issuer has
 * (RFC 7518 §3.1, RFC 8037, RFC 9864). Neither `none` nor HMAC can be chosen (RFC 8725 §3.1, §3.2).
 */
const JWT_ALGORITHMS = [
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
  ...['PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'],
]

const NONE = 'none'

function unlessNone(text: string): string | undefined {
  return text === NONE ? undefined : text
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** Whoever can change keys on their way can make tokens, so they travel by TLS or not at all. */
function isJwksUrl(text: string): boolean {
  if (text === NONE) return true
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname))
}

/** An address of keys; `none` is undefined. */
export const jwksUrl = z
  .string()
  .refine(isJwksUrl, 'must be an https:// address, or an http:// one on this machine, or none')
  .transform(unlessNone)

/** Any text but the empty one; `none` is undefined. */
export const textOrNone = z.string().min(1, 'must not be empty').transform(unlessNone)

/** The types of JWTs that are taken. */
export const jwtTypes = z.enum(['any', 'at+jwt'], { error: 'must be any or at+jwt' })

/** Names of algorithms with commas between them. */
export const jwtAlgorithms = z
  .string()
  .transform((text) => text.split(','))
  .refine((names) => names.every((name) => JWT_ALGORITHMS.includes(name)), {
    error: `must be a list, with commas, of ${JWT_ALGORITHMS.join(', ')}`,
  })
