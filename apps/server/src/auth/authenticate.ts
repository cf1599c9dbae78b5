import { timingSafeEqual } from 'node:crypto'
import type { TokenRecord, TokenStore } from '../store/store.ts'
import { parseOpaqueToken } from './opaque-token.ts'
import { type Clocks, type KnownToken, TokenCache, type TokenCacheObserver } from './token-cache.ts'

/** A token that was found good: `id` identifies it, `name` is for logs. */
export type AdmittedToken = Pick<TokenRecord, 'id' | 'name'>

/**
 * The token of a credential; undefined if it is unknown, malformed, revoked or expired. There is no
 * promise for a credential that the same connection showed a moment ago. `beforeCost` is called
 * after the check has waited for its turn and before its expensive part; what it throws ends the check.
 */
export interface Authenticate {
  (
    credential: string,
    connection: object,
    beforeCost?: () => void,
  ): AdmittedToken | undefined | Promise<AdmittedToken | undefined>
  /** Whether this process knows the token that a credential names, good or not: checking it costs little. */
  isKnown(credential: string): boolean
}

/** Whether a token is neither revoked nor expired at a time (Unix ms). */
export function isUsable({ revokedAt, expiresAt }: TokenRecord, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now)
}

export const systemClocks: Clocks = { now: Date.now, monotonic: () => performance.now() }

/** Checks opaque tokens against the store; each is cached for a moment. */
export function createAuthenticate(
  tokens: TokenStore,
  clocks: Clocks = systemClocks,
  observer?: TokenCacheObserver,
): Authenticate {
  const cache = new TokenCache(tokens, clocks, observer)
  // The verified credential of each connection: comparing with it can reveal no other caller's.
  const verified = new WeakMap<object, KnownToken & { readonly credential: string }>()

  async function verify(credential: string, connection: object): Promise<TokenRecord | undefined> {
    const parsed = parseOpaqueToken(credential)
    if (parsed === undefined) return undefined
    const known = await cache.find(parsed.id)
    if (known === undefined || !isUsable(known.token, clocks.now())) return undefined
    // In a time that does not depend on where the digests differ.
    if (!timingSafeEqual(parsed.secretSha256, known.token.secretSha256)) return undefined
    verified.set(connection, { ...known, credential })
    cache.markUsed(known)
    return known.token
  }

  function authenticate(credential: string, connection: object) {
    const before = verified.get(connection)
    const isRemembered = before?.credential === credential && cache.isFresh(before)
    if (!isRemembered) return verify(credential, connection)
    observer?.hit()
    return isUsable(before.token, clocks.now()) ? before.token : undefined
  }

  return Object.assign(authenticate, {
    isKnown(credential: string) {
      const id = parseOpaqueToken(credential)?.id
      return id !== undefined && cache.has(id)
    },
  })
}
