import type { Logger } from 'pino'
import { type KeySet, parseKeySet } from './key-set.ts'
import type { KeySource } from './key-source.ts'
import type { Clocks } from './token-cache.ts'

/** The shortest time between the end of a read and the next read, whatever callers send. */
const COOL_DOWN_MS = 10_000

/** Keys are read again after this time; requests meanwhile use the known keys. */
const REFRESH_MS = 240_000

/** After this time requests wait for a new read, so that a withdrawn key stops working. */
const MAX_AGE_MS = 300_000

/**
 * Keys are used no longer than this after they were last read: long enough to notice and fix an
 * outage of the issuer, as long as most issuers' tokens last, and a limit for withdrawn keys while
 * somebody cuts the issuer off.
 */
const STALE_MS = 3_600_000

/** Is notified of the end of each read of the issuer's keys, to measure them. */
export interface JwksObserver {
  fetched(isGood: boolean): void
}

export interface KeyRingParts {
  readonly source: KeySource
  readonly clocks: Pick<Clocks, 'monotonic'>
  readonly log: Logger
  readonly observer?: JwksObserver | undefined
}

/** The keys of an issuer, which may change while they are in use, and may be unreadable. */
export class KeyRing {
  readonly #parts: KeyRingParts
  #keys: KeySet | undefined
  #failure: string | undefined
  /** The end of the last read, and of the last one that succeeded. */
  #readAt = Number.NEGATIVE_INFINITY
  #succeededAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  constructor(parts: KeyRingParts) {
    this.#parts = parts
  }

  /** The keys as last read; another object after a change; undefined if no read succeeded within an hour. */
  get keys(): KeySet | undefined {
    return this.#parts.clocks.monotonic() - this.#succeededAt < STALE_MS ? this.#keys : undefined
  }

  /** Why the last read failed; there may be unknown keys then. */
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
   * Reads keys again once they are 4 minutes old. Returns a promise if the caller must wait for that:
   * without keys, or after 5 minutes without an attempt.
   */
  keepCurrent(): Promise<void> | undefined {
    const age = this.#age
    if (age < (this.#failure === undefined ? REFRESH_MS : COOL_DOWN_MS)) return undefined
    const refreshed = this.refresh()
    return this.keys === undefined || age >= MAX_AGE_MS ? refreshed : undefined
  }

  /**
   * Reads keys again unless that was tried within the last 10 s. Returns the running read, if any,
   * which never rejects.
   */
  refresh(): Promise<void> | undefined {
    if (this.#reading === undefined && this.#age >= COOL_DOWN_MS) this.#reading = this.#read()
    return this.#reading
  }

  async #read(): Promise<void> {
    const { source, clocks, log } = this.#parts
    const about = { jwks: source.description }
    try {
      const fresh = await parseKeySet(await source.read())
      this.#failure = undefined
      this.#succeededAt = clocks.monotonic()
      if (fresh.content !== this.#keys?.content) {
        this.#keys = fresh
        const { usable, ignored } = fresh
        const level = usable.length > 0 ? 'info' : 'warn'
        log[level]({ ...about, usable, ignored }, 'took new keys for JWTs')
      }
    } catch (error) {
      this.#failure = (error as Error).message
      const failed = { ...about, failure: this.#failure }
      const consequence =
        this.keys === undefined
          ? 'no JWT can be checked'
          : 'those that are known stay until an hour after they were read'
      log.warn(failed, `cannot read the keys for JWTs; ${consequence}`)
    }
    this.#parts.observer?.fetched(this.#failure === undefined)
    this.#readAt = clocks.monotonic()
    this.#reading = undefined
  }
}
