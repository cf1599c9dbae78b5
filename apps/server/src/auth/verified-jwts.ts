import type { AdmittedToken } from './authenticate.ts'
import type { KeySet } from './key-set.ts'

/** About 3 MB. */
const MOST_ENTRIES = 10_000

/** A JWT that was verified. */
export interface VerifiedJwt {
  readonly token: AdmittedToken
  /** Unix ms, with the clock skew added. */
  readonly expiresAt: number
  /** The keys that it was verified with; with other keys it must be verified again. */
  readonly keys: KeySet
}

/** Verified JWTs by their digest; beyond 10,000 the least recently used one is forgotten. */
export function createVerifiedJwts() {
  // A Map keeps the order of insertion, so its first entry is the oldest.
  const entries = new Map<string, VerifiedJwt>()

  function add(digest: string, verified: VerifiedJwt): void {
    entries.delete(digest)
    entries.set(digest, verified)
    if (entries.size <= MOST_ENTRIES) return
    for (const [oldest] of entries) {
      entries.delete(oldest)
      return
    }
  }

  return {
    find(digest: string): VerifiedJwt | undefined {
      const verified = entries.get(digest)
      if (verified !== undefined) add(digest, verified)
      return verified
    },
    add,
    forget: (digest: string) => void entries.delete(digest),
  }
}
