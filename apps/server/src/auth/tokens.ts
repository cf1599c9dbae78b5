import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Store, TokenRecord } from '../store/store.ts'

/** The beginning of every opaque token, and of no JWT: a JWT begins with a JSON object in base64url. */
export const OPAQUE_PREFIX = 'plant_'

const ID_BYTES = 6

/** 256 bits: more than can be guessed, so a plain SHA-256 of it is safe to store. */
const SECRET_BYTES = 32

/** `plant_`, an id, `_`, a secret in base64url (RFC 4648 §5), and the CRC-32 of all before it. */
const OPAQUE_TOKEN = /^plant_([0-9a-f]{12})_([\w-]{43})([0-9a-f]{8})$/

const DAY_MS = 86_400_000

/** 90 days: long enough to forget, short enough that a lost token ends by itself. */
export const DEFAULT_LIFETIME_MS = 90 * DAY_MS

/** Long enough to bring a new token to every place that uses the old one. */
export const TOKEN_WARNING_MS = 14 * DAY_MS

/** A token for so short a time, or less, is meant to end. */
const SHORT_LIFETIME_MS = 2 * DAY_MS

export interface OpaqueToken {
  readonly id: string
  readonly secretSha256: Buffer
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** Makes a token: `text` is for its owner and is stored nowhere, the rest is for the store. */
export function createOpaqueToken(): OpaqueToken & { readonly text: string } {
  const id = randomBytes(ID_BYTES).toString('hex')
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  const unchecked = `${OPAQUE_PREFIX}${id}_${secret}`
  return { id, secretSha256: sha256(secret), text: unchecked + checksumOf(unchecked) }
}

/** Parses a token; undefined for text that was never issued here, such as a token with a typo. */
export function parseOpaqueToken(text: string): OpaqueToken | undefined {
  const [, id, secret, checksum] = OPAQUE_TOKEN.exec(text) ?? []
  if (id === undefined || secret === undefined) return undefined
  if (checksumOf(`${OPAQUE_PREFIX}${id}_${secret}`) !== checksum) return undefined
  return { id, secretSha256: sha256(secret) }
}

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

/** Whether a token is neither revoked nor expired at a time (Unix ms). */
export function isUsable({ revokedAt, expiresAt }: TokenRecord, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now)
}

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
