import { StoreUnavailableError, type TokenRecord, type TokenStore } from '../store/store.ts'
import type { TokenCacheObserver } from './token-cache-observer.ts'

/** A revocation must act within 5 s in every process; half of that leaves room for a slow read. */
const CACHE_MS = 2_500

/**
 * How often all tokens are read while somebody shows too many that are not valid: so long may one
 * wait at most that was made after the last time, or before this process began.
 */
const LIST_MS = 10_000

/** Looks into the store that may wait at a time, so that a flood of made-up tokens stays a small one. */
const LOOKUP_LIMIT = 256

/** Last use is kept to the hour, so that it costs a write an hour and not one a request. */
const LAST_USE_PRECISION_MS = 3_600_000

export interface Clocks {
  /** Unix ms, which may jump; for what is stored. */
  readonly now: () => number
  /** ms since some moment, which never jumps; for ages within this process. */
  readonly monotonic: () => number
}

export interface KnownToken {
  readonly token: TokenRecord
  /** When the token was read from the store, by the monotonic clock. */
  readonly readAt: number
}

/** The tokens of a store, each remembered for a moment. */
export interface TokenCache {
  isFresh(known: KnownToken): boolean
  /** Whether the store had this token when it was last asked, for it or for all. */
  has(id: string): boolean
  /** @throws StoreUnavailableError when too many wait for the store already. */
  find(id: string): Promise<KnownToken | undefined>
  /** Notes that a token was used, at most once an hour. */
  markUsed(known: KnownToken): void
}

export function createTokenCache(
  tokens: TokenStore,
  { now, monotonic }: Clocks,
  observer?: TokenCacheObserver,
): TokenCache {
  // Holds found tokens only, so it never outgrows the tokens table.
  const known = new Map<string, KnownToken>()
  // Requests that ask for the same token at the same time share one look into the store.
  const lookups = new Map<string, Promise<KnownToken | undefined>>()

  function isFresh({ readAt }: KnownToken): boolean {
    return monotonic() - readAt < CACHE_MS
  }

  async function lookUp(id: string): Promise<KnownToken | undefined> {
    const readAt = monotonic()
    const token = await tokens.find(id)
    if (token === undefined) known.delete(id)
    else known.set(id, { token, readAt })
    observer?.missed(known.size)
    return known.get(id)
  }

  let listedAt = Number.NEGATIVE_INFINITY

  async function learnAll(): Promise<void> {
    const readAt = monotonic()
    for (const token of await tokens.list()) {
      if (!known.has(token.id)) known.set(token.id, { token, readAt })
    }
  }

  return {
    isFresh,
    has(id) {
      if (monotonic() - listedAt >= LIST_MS) {
        listedAt = monotonic()
        // Where it fails, the next time tries again.
        learnAll().catch(() => {})
      }
      return known.has(id)
    },
    async find(id) {
      const remembered = known.get(id)
      if (remembered !== undefined && isFresh(remembered)) {
        observer?.hit()
        return remembered
      }
      if (!lookups.has(id) && lookups.size >= LOOKUP_LIMIT) {
        throw new StoreUnavailableError('too many tokens wait for their check')
      }
      const lookup = lookups.get(id) ?? lookUp(id).finally(() => lookups.delete(id))
      lookups.set(id, lookup)
      return lookup
    },
    markUsed({ token, readAt }) {
      const lastUsedAt = now()
      const before = known.get(token.id)?.token.lastUsedAt ?? token.lastUsedAt ?? 0
      if (lastUsedAt - before < LAST_USE_PRECISION_MS) return
      known.set(token.id, { token: { ...token, lastUsedAt }, readAt })
      // Last use is a hint: the request does not wait for it, and the next hour tries again.
      tokens.markUsed(token.id, lastUsedAt).catch(() => {})
    },
  }
}
