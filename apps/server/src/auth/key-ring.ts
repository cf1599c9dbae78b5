import type { Logger } from 'pino'
import { type KeySet, parseKeySet } from './key-set.ts'
import type { KeySource } from './key-source.ts'
import type { Clocks } from './token-cache.ts'

/** The least time between the end of a read and the next one, whatever callers send. */
const COOL_DOWN_MS = 10_000

/** Keys are read anew after this time, while requests go on with those that are known. */
const REFRESH_MS = 240_000

/** Requests wait for a new read after this time, so that a key that was taken back stops working. */
const MAX_AGE_MS = 300_000

/** The keys of an issuer, which may change while we use them, and which we may fail to read. */
export interface KeyRing {
  /** As last read, another object after a change; undefined as long as no read has succeeded. */
  readonly keys: KeySet | undefined
  /** Why the last read failed; there may then be keys that we do not know. */
  readonly failure: string | undefined
  /**
   * Reads keys anew once they are 4 minutes old. Gives a promise where that must be waited for:
   * without keys, or after 5 minutes without an attempt.
   */
  keepCurrent(): Promise<void> | undefined
  /** Reads keys anew unless that was tried within the last 10 s. Never rejects. */
  refresh(): Promise<void>
  /** Seconds until the next read may begin, at least 1. */
  secondsToNextRead(): number
}

export interface KeyRingParts {
  readonly source: KeySource
  readonly algorithms: readonly string[]
  readonly clocks: Pick<Clocks, 'monotonic'>
  readonly log: Logger
}

export function createKeyRing({ source, algorithms, clocks, log }: KeyRingParts): KeyRing {
  const about = { jwks: source.description }
  let keys: KeySet | undefined
  let failure: string | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  function age(): number {
    return clocks.monotonic() - readAt
  }

  async function read(): Promise<void> {
    try {
      const fresh = await parseKeySet(await source.read(), algorithms)
      failure = undefined
      if (fresh.content !== keys?.content) {
        keys = fresh
        const { usable, ignored } = fresh
        const level = usable.length > 0 ? 'info' : 'warn'
        log[level]({ ...about, usable, ignored }, 'took new keys for JWTs')
      }
    } catch (error) {
      failure = (error as Error).message
      log.warn({ ...about, failure }, 'cannot read the keys for JWTs; those that are known stay')
    }
    readAt = clocks.monotonic()
    reading = undefined
  }

  async function refresh(): Promise<void> {
    if (reading === undefined && age() >= COOL_DOWN_MS) reading = read()
    await reading
  }

  return {
    get keys() {
      return keys
    },
    get failure() {
      return failure
    },
    keepCurrent() {
      const since = age()
      if (since < (failure === undefined ? REFRESH_MS : COOL_DOWN_MS)) return undefined
      const refreshed = refresh()
      return keys === undefined || since >= MAX_AGE_MS ? refreshed : undefined
    },
    refresh,
    secondsToNextRead: () => Math.max(1, Math.ceil((COOL_DOWN_MS - age()) / 1000)),
  }
}
