import type { TokenRecord } from './store.ts'

/** The columns of tokens in every engine. */
export const TOKEN_COLUMNS =
  'id, name, secret_sha256, created_at, expires_at, revoked_at, last_used_at'

function toTime(value: unknown): number | undefined {
  return value === null ? undefined : Number(value)
}

/** The token of a row that a driver read; times may come as text or as numbers. */
export function toTokenRecord(row: Readonly<Record<string, unknown>>): TokenRecord {
  return {
    id: String(row.id),
    name: String(row.name),
    secretSha256: Uint8Array.from(row.secret_sha256 as Uint8Array),
    createdAt: Number(row.created_at),
    expiresAt: toTime(row.expires_at),
    revokedAt: toTime(row.revoked_at),
    lastUsedAt: toTime(row.last_used_at),
  }
}
