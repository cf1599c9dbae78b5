import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** The beginning of every opaque token, and of no JWT: a JWT begins with a JSON object in base64url. */
export const OPAQUE_PREFIX = 'plant_'

const ID_BYTES = 6

/** 256 bits: more than can be guessed, so a plain SHA-256 of it is safe to store. */
const SECRET_BYTES = 32

/** `plant_`, an id, `_`, a secret in base64url (RFC 4648 §5), and the CRC-32 of all before it. */
const OPAQUE_TOKEN = /^plant_([0-9a-f]{12})_([\w-]{43})([0-9a-f]{8})$/

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
  const unchecked = `plant_${id}_${secret}`
  return { id, secretSha256: sha256(secret), text: unchecked + checksumOf(unchecked) }
}

/** Parses a token; undefined for text that was never issued here, such as a token with a typo. */
export function parseOpaqueToken(text: string): OpaqueToken | undefined {
  const [, id, secret, checksum] = OPAQUE_TOKEN.exec(text) ?? []
  if (id === undefined || secret === undefined) return undefined
  if (checksumOf(`plant_${id}_${secret}`) !== checksum) return undefined
  return { id, secretSha256: sha256(secret) }
}
