import { headerNames } from '@plant-store/contract'
import type { RequestHandler } from 'express'
import type { Refusals } from './admission.ts'
import { RequestError, retryAfter } from './request-error.ts'
import { addHeader } from './response.ts'

const NS_PER_MS = 1_000_000

/** A rate in units: `burst` of them at once, then one in each `unitNs`. */
export interface RateLimit {
  /** Whole nanoseconds in which a unit grows back. */
  readonly unitNs: number
  readonly burst: number
}

/** What is left of a key's rate. */
export interface RateState {
  /** Whole units that may be spent now. */
  readonly remaining: number
  /** Until a unit may be spent; 0 if one may be spent now. */
  readonly waitMs: number
}

/** More than there are tokens or failing callers at a time. */
const MOST_KEYS = 100_000

/**
 * A rate for each of many keys, in bounded memory and without timers. Times are by performance.now().
 * The generic cell rate algorithm (ITU-T I.371), which is a token bucket that keeps one number for
 * each key: the time at which all of its burst is available again.
 */
export function createRate({ unitNs, burst }: RateLimit, mostKeys = MOST_KEYS) {
  const fullAtNs = new Map<string, number>()

  /** Forgets the keys that have their whole burst, and the oldest ones until half of the room is free. */
  function sweep(nowNs: number): void {
    for (const [key, timeNs] of fullAtNs) if (timeNs <= nowNs) fullAtNs.delete(key)
    for (const key of fullAtNs.keys()) {
      if (fullAtNs.size <= mostKeys / 2) return
      fullAtNs.delete(key)
    }
  }

  function use(key: string, nowMs: number, spends: boolean): RateState {
    const nowNs = Math.round(nowMs * NS_PER_MS)
    const missingNs = Math.max(0, (fullAtNs.get(key) ?? 0) - nowNs)
    const leftNs = burst * unitNs - missingNs
    const remaining = Math.max(0, Math.floor(leftNs / unitNs))
    const waitMs = remaining > 0 ? 0 : (unitNs - leftNs) / NS_PER_MS
    if (spends && remaining > 0) {
      fullAtNs.set(key, nowNs + missingNs + unitNs)
      if (fullAtNs.size > mostKeys) sweep(nowNs)
    }
    return { remaining, waitMs }
  }

  return {
    /** What is left; nothing is spent. */
    look: (key: string, nowMs: number) => use(key, nowMs, false),
    /** Spends a unit if there is one, and returns what was left before. */
    spend: (key: string, nowMs: number) => use(key, nowMs, true),
  }
}

const SECOND_NS = 1_000_000_000

/**
 * Limits the requests of each token to `perSecond`, in the long run and at once, and reports what is
 * left in the RateLimit fields (draft-ietf-httpapi-ratelimit-headers-11). Comes after the credential
 * and before the body.
 * @throws RequestError `too_many_requests`
 */
export function limitTokenRate(perSecond: number, refusals: Refusals): RequestHandler {
  const rate = createRate({ unitNs: Math.round(SECOND_NS / perSecond), burst: perSecond })
  const policy = `"token";q=${perSecond};w=1`

  return (_request, response, next) => {
    const { tokenId = '', tokenName } = response.locals
    const { remaining, waitMs } = rate.spend(tokenId, performance.now())
    // All of it grows back within a second, over which a caller should spread what is left.
    addHeader(response, headerNames.rateLimitPolicy, policy)
    addHeader(response, headerNames.rateLimit, `"token";r=${Math.max(0, remaining - 1)};t=1`)
    if (waitMs === 0) return next()
    refusals.count('rate', tokenName)
    throw new RequestError('too_many_requests', `this token may send ${perSecond} a second`, {
      headers: retryAfter(),
    })
  }
}
