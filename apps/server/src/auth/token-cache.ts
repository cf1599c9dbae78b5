import { timingSafeEqual } from 'node:crypto'
import { StoreUnavailableError, type TokenRecord, type TokenStore } from '../store/store.ts'
import type { Authenticate } from './bearer.ts'
import { isUsable, parseOpaqueToken } from './tokens.ts'

/** A revocation must take effect within 5 s in every process; half of that leaves time for a slow read. */
const CACHE_MS = 2_500

/**
 * How often all tokens are read while a caller is over the limit of failed credentials: a token that
 * this process does not know yet may be refused for up to 10 s.
 */
const LIST_MS = 10_000

/** Reads of the store that may wait at a time: a bound for a flood of made-up tokens. */
const LOOKUP_LIMIT = 256

/** Last use is stored to the hour, so that it costs a write an hour and not one a request. */
const LAST_USE_PRECISION_MS = 3_600_000

export interface Clocks {
  /** Unix ms, which may jump; for times that are stored. */
  readonly now: () => number
  /** ms since some moment; never jumps; for ages within this process. */
  readonly monotonic: () => number
}

export const systemClocks: Clocks = { now: Date.now, monotonic: () => performance.now() }

interface KnownToken {
  readonly token: TokenRecord
  /** When the token was read from the store, by the monotonic clock. */
  readonly readAt: number
}

/** Is notified of the cache's use, to measure it. */
export interface TokenCacheObserver {
  /** A token was in the cache. */
  hit(): void
  /** The store was asked; the cache now holds this many tokens. */
  missed(rememberedTokens: number): void
}

/** The tokens of a store, each cached for a moment. */
class TokenCache {
  readonly #tokens: TokenStore
  readonly #clocks: Clocks
  readonly #observer: TokenCacheObserver | undefined
  // Holds only tokens that exist, so it is never larger than their table.
  readonly #known = new Map<string, KnownToken>()
  // Requests with the same token at the same time share one read of the store.
  readonly #lookups = new Map<string, Promise<KnownToken | undefined>>()
  #listedAt = Number.NEGATIVE_INFINITY

  constructor(tokens: TokenStore, clocks: Clocks, observer?: TokenCacheObserver) {
    this.#tokens = tokens
    this.#clocks = clocks
    this.#observer = observer
  }

  isFresh({ readAt }: KnownToken): boolean {
    return this.#clocks.monotonic() - readAt < CACHE_MS
  }

  /** Whether the store had this token when it was last read. */
  has(id: string): boolean {
    const now = this.#clocks.monotonic()
    if (now - this.#listedAt >= LIST_MS) {
      this.#listedAt = now
      // If it fails, the next time tries again.
      this.#learnAll().catch(() => {})
    }
    return this.#known.has(id)
  }

  /** @throws StoreUnavailableError if too many reads wait already. */
  async find(id: string): Promise<KnownToken | undefined> {
    const remembered = this.#known.get(id)
    if (remembered !== undefined && this.isFresh(remembered)) {
      this.#observer?.hit()
      return remembered
    }
    const lookups = this.#lookups
    if (!lookups.has(id) && lookups.size >= LOOKUP_LIMIT) {
      throw new StoreUnavailableError('too many tokens wait for their check')
    }
    const lookup = lookups.get(id) ?? this.#lookUp(id).finally(() => lookups.delete(id))
    lookups.set(id, lookup)
    return lookup
  }

  /** Notes that a token was used, at most once an hour. */
  markUsed({ token, readAt }: KnownToken): void {
    const lastUsedAt = this.#clocks.now()
    const before = this.#known.get(token.id)?.token.lastUsedAt ?? token.lastUsedAt ?? 0
    if (lastUsedAt - before < LAST_USE_PRECISION_MS) return
    this.#known.set(token.id, { token: { ...token, lastUsedAt }, readAt })
    // Last use is a hint: the request does not wait for it, and the next hour tries again.
    this.#tokens.markUsed(token.id, lastUsedAt).catch(() => {})
  }

  async #lookUp(id: string): Promise<KnownToken | undefined> {
    const readAt = this.#clocks.monotonic()
    const token = await this.#tokens.find(id)
    if (token === undefined) this.#known.delete(id)
    else this.#known.set(id, { token, readAt })
    this.#observer?.missed(this.#known.size)
    return this.#known.get(id)
  }

  async #learnAll(): Promise<void> {
    const readAt = this.#clocks.monotonic()
    for (const token of await this.#tokens.list()) {
      if (!this.#known.has(token.id)) this.#known.set(token.id, { token, readAt })
    }
  }
}

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
