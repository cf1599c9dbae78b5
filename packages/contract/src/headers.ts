/**
 * Every header that the operation reads or writes, by what it is for. The names are in lower case,
 * as Node.js and fetch give them.
 */
export const headerNames = {
  authorization: 'authorization',
  contentType: 'content-type',
  requestId: 'x-request-id',
  retryCount: 'x-retry-count',
  wwwAuthenticate: 'www-authenticate',
  allow: 'allow',
  accept: 'accept',
  acceptEncoding: 'accept-encoding',
  idempotentReplayed: 'idempotent-replayed',
  retryAfter: 'retry-after',
  rateLimit: 'ratelimit',
  rateLimitPolicy: 'ratelimit-policy',
} as const

/** The scheme before the token in `authorization` (RFC 6750 §2.1). */
export const AUTHORIZATION_SCHEME = 'Bearer'

/** The value of `idempotent-replayed`: the plant was there before; a first store has no such header. */
export const REPLAYED = 'true'

/** The characters of a request id, and how many it may have. */
export const REQUEST_ID = { pattern: /^[A-Za-z0-9._-]+$/, maxLength: 128 } as const

/** Whether a request id is well formed: the server keeps such an id and replaces any other. */
export function isRequestId(text: string): boolean {
  return text.length <= REQUEST_ID.maxLength && REQUEST_ID.pattern.test(text)
}
