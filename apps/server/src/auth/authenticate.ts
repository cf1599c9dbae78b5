import type { TokenRecord, TokenStore } from '../store/store.ts'
import { isSameSecret, parseOpaqueToken } from './opaque-token.ts'

/** A revocation must act within 5 s in every process; half of that leaves room for a slow read. */
const CACHE_MS = 2_500

/** Last use is kept to the hour, so that it costs a write an hour and not one a request. */
const LAST_USE_PRECISION_MS = 3_600_000

/** The token that a text stands for; undefined when it is unknown, malformed, revoked or expired. */
export type Authenticate = (text: string) => Promise<TokenRecord | undefined>

/** Whether a token opens the service at this time (Unix ms). */
export function isUsable({ revokedAt, expiresAt }: TokenRecord, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now)
}

export interface Clocks {
  /** Unix ms, which may jump; for what is stored. */
  readonly now: () => number
  /** ms since some moment, which never jumps; for ages within this process. */
  readonly monotonic: () => number
}

const systemClocks: Clocks = { now: Date.now, monotonic: () => performance.now() }

/** Checks opaque tokens against the store, remembering each for a moment. */
export function createAuthenticate(
  tokens: TokenStore,
  { now, monotonic }: Clocks = systemClocks,
): Authenticate {
  // Holds found tokens only, so it never outgrows the tokens table.
  const cache = new Map<string, { readonly token: TokenRecord; readonly readAt: number }>()

  async function find(id: string): Promise<TokenRecord | undefined> {
    const cached = cache.get(id)
    if (cached !== undefined && monotonic() - cached.readAt < CACHE_MS) return cached.token
    const readAt = monotonic()
    const token = await tokens.find(id)
    if (token === undefined) cache.delete(id)
    else cache.set(id, { token, readAt })
    return token
  }

  function markUsed(token: TokenRecord): void {
    const lastUsedAt = now()
    if (lastUsedAt - (token.lastUsedAt ?? 0) < LAST_USE_PRECISION_MS) return
    const cached = cache.get(token.id)
    if (cached !== undefined) cache.set(token.id, { ...cached, token: { ...token, lastUsedAt } })
    // Last use is a hint: the request does not wait for it, and the next hour tries again.
    tokens.markUsed(token.id, lastUsedAt).catch(() => {})
  }

  return async (text) => {
    const parsed = parseOpaqueToken(text)
    if (parsed === undefined) return undefined
    const token = await find(parsed.id)
    if (token === undefined || !isSameSecret(parsed.secretSha256, token.secretSha256)) {
      return undefined
    }
    if (!isUsable(token, now())) return undefined
    markUsed(token)
    return token
  }
}
