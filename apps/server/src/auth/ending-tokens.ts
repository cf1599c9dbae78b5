import type { TokenRecord } from '../store/store.ts'
import { isUsable } from './authenticate.ts'

const DAY_MS = 86_400_000

/** Long enough to bring a new token to every place that uses the old one. */
export const TOKEN_WARNING_MS = 14 * DAY_MS

/** A token for so short a time, or less, is meant to end. */
const SHORT_LIFETIME_MS = 2 * DAY_MS

/** A token that ends. */
export type EndingToken = TokenRecord & { readonly expiresAt: number }

function isEnding(token: TokenRecord): token is EndingToken {
  return token.expiresAt !== undefined && token.expiresAt - token.createdAt > SHORT_LIFETIME_MS
}

/**
 * The tokens that end, or have ended by their time, and that nobody has replaced: no usable token of
 * the same name lasts longer. In the order of their ends; tokens made for two days or less are left out.
 */
export function findEndingTokens(tokens: readonly TokenRecord[], now: number): EndingToken[] {
  const lasting = new Map<string, number>()
  for (const token of tokens) {
    if (!isUsable(token, now)) continue
    const end = token.expiresAt ?? Number.POSITIVE_INFINITY
    lasting.set(token.name, Math.max(end, lasting.get(token.name) ?? 0))
  }
  return tokens
    .filter((token) => token.revokedAt === undefined)
    .filter(isEnding)
    .filter(({ name, expiresAt }) => (lasting.get(name) ?? 0) <= expiresAt)
    .sort((one, other) => one.expiresAt - other.expiresAt)
}
