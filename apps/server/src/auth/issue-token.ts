import type { Store, TokenRecord } from '../store/store.ts'
import { createOpaqueToken } from './opaque-token.ts'

/** 90 days: long enough to forget, short enough that a lost token ends by itself. */
export const DEFAULT_LIFETIME_MS = 90 * 86_400_000

/** A new token: its text, which is stored nowhere, and its record in the store. */
export interface IssuedToken {
  readonly text: string
  readonly record: TokenRecord
}

/** Makes a token without storing it; with a lifetime of Infinity it never expires. */
export function draftToken(name: string, lifetimeMs: number): IssuedToken {
  const { text, id, secretSha256 } = createOpaqueToken()
  const createdAt = Date.now()
  const expiresAt = Number.isFinite(lifetimeMs) ? createdAt + lifetimeMs : undefined
  const unused = { revokedAt: undefined, lastUsedAt: undefined }
  return { text, record: { id, name, secretSha256, createdAt, expiresAt, ...unused } }
}

/** Makes a token and stores it. */
export async function issueToken(
  { tokens }: Pick<Store, 'tokens'>,
  name: string,
  lifetimeMs: number,
): Promise<IssuedToken> {
  const issued = draftToken(name, lifetimeMs)
  await tokens.add(issued.record)
  return issued
}
