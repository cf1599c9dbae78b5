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

/**
 * Keys open the service no longer than this after they were last read: long enough to notice and
 * fix an issuer that is down, as long as the tokens of most issuers last, and an end to keys that
 * may have been taken back, by an issuer that somebody keeps from telling so.
 */
const STALE_MS = 3_600_000

/** Is told how each read of the issuer's keys ended, for whoever measures. */
export interface JwksObserver {
  fetched(isGood: boolean): void
}

export interface KeyRingParts {
  readonly source: KeySource
  readonly algorithms: readonly string[]
  readonly clocks: Pick<Clocks, 'monotonic'>
  readonly log: Logger
  readonly observer?: JwksObserver | undefined
}

/** The keys of an issuer, which may change while we use them, and which we may fail to read. */
export class KeyRing {
  readonly #parts: KeyRingParts
  #keys: KeySet | undefined
  #failure: string | undefined
  /** The end of the last read, and of the last one that succeeded. */
  #readAt = Number.NEGATIVE_INFINITY
  #toldAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  constructor(parts: KeyRingParts) {
    this.#parts = parts
  }

  /** As last read, another object after a change; undefined where no read succeeded within an hour. */
  get keys(): KeySet | undefined {
    return this.#parts.clocks.monotonic() - this.#toldAt < STALE_MS ? this.#keys : undefined
  }

  /** Why the last read failed; there may then be keys that we do not know. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** ms since the end of the last read. */
  get #age(): number {
    return this.#parts.clocks.monotonic() - this.#readAt
  }

  /** Seconds until the next read may begin, at least 1. */
  get secondsToNextRead(): number {
    return Math.max(1, Math.ceil((COOL_DOWN_MS - this.#age) / 1000))
  }

  /**
   * Reads keys anew once they are 4 minutes old. Gives a promise where that must be waited for:
   * without keys, or after 5 minutes without an attempt.
   */
  keepCurrent(): Promise<void> | undefined {
    const age = this.#age
    if (age < (this.#failure === undefined ? REFRESH_MS : COOL_DOWN_MS)) return undefined
    const refreshed = this.refresh()
    return this.keys === undefined || age >= MAX_AGE_MS ? refreshed : undefined
  }

  /**
   * Reads keys anew unless that was tried within the last 10 s. Gives the read that is on its way,
   * if any, which never rejects.
   */
  refresh(): Promise<void> | undefined {
    if (this.#reading === undefined && this.#age >= COOL_DOWN_MS) this.#reading = this.#read()
    return this.#reading
  }

  async #read(): Promise<void> {
    const { source, algorithms, clocks, log } = this.#parts
    const about = { jwks: source.description }
    try {
      const fresh = await parseKeySet(await source.read(), algorithms)
      this.#failure = undefined
      this.#toldAt = clocks.monotonic()
      if (fresh.content !== this.#keys?.content) {
        this.#keys = fresh
        const { usable, ignored } = fresh
        const level = usable.length > 0 ? 'info' : 'warn'
        log[level]({ ...about, usable, ignored }, 'took new keys for JWTs')
      }
    } catch (error) {
      this.#failure = (error as Error).message
      const told = { ...about, failure: this.#failure }
      const consequence =
        this.keys === undefined
          ? 'no JWT can be checked'
          : 'those that are known stay until an hour after they were read'
      log.warn(told, `cannot read the keys for JWTs; ${consequence}`)
    }
    this.#parts.observer?.fetched(this.#failure === undefined)
    this.#readAt = clocks.monotonic()
    this.#reading = undefined
  }
}
