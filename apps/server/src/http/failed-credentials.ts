import type { Request } from 'express'
import { type Authenticate, credentialOf, type FailureLimit } from '../auth/bearer.ts'
import type { Limit, Refusal, Refusals } from './admission.ts'
import type { CallerOf } from './caller.ts'
import { RequestError, retryAfter } from './request-error.ts'
import { createRate } from './token-rate.ts'

/** Callers that showed no valid credential too often. */
export interface Failures extends FailureLimit {
  /**
   * Refuses callers over the limit with 429, unless they show a token that this process knows: its
   * check costs little, and a good caller may share the address with a bad one. So may what
   * everybody may ask for. Costs almost nothing while nobody is over the limit.
   */
  limitBlocked(authenticate: Authenticate, isForEverybody: (request: Request) => boolean): Limit
}

const MINUTE_NS = 60_000_000_000

const error = new RequestError(
  'too_many_requests',
  'too many requests from this address had no valid token',
)

/** For a server whose callers may fail any number of times. */
const noLimit: Failures = {
  limitBlocked: () => () => undefined,
  check: () => {},
  add: () => {},
}

/** The refusal of a caller that has to wait; undefined for 0 ms. */
function refusalAfter(caller: string, waitMs: number): Refusal | undefined {
  if (waitMs === 0) return undefined
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return { reason: 'failed_credentials', error, retryAfterSeconds, who: caller }
}

/** Limits how often a caller may show no valid credential: `perMinute`, or any number if undefined. */
export function limitFailures(
  perMinute: number | undefined,
  callerOf: CallerOf,
  refusals: Refusals,
): Failures {
  if (perMinute === undefined) return noLimit
  const rate = createRate({ unitNs: Math.round(MINUTE_NS / perMinute), burst: perMinute })
  /** Until when some caller is over the limit: while nobody is, no address is looked up. */
  let overUntil = 0

  function refusalOf(request: Parameters<CallerOf>[0]): Refusal | undefined {
    const now = performance.now()
    if (now > overUntil) return undefined
    const caller = callerOf(request)
    return refusalAfter(caller, rate.look(caller, now).waitMs)
  }

  function throwIf(refusal: Refusal | undefined): void {
    if (refusal === undefined) return
    refusals.count(refusal.reason, refusal.who)
    const headers = retryAfter(refusal.retryAfterSeconds)
    throw new RequestError(error.errorName, error.message, { headers })
  }

  return {
    limitBlocked: (authenticate, isForEverybody) => (request) => {
      const refusal = refusalOf(request)
      if (refusal === undefined || isForEverybody(request)) return undefined
      const credential = credentialOf(request)
      return credential !== undefined && authenticate.isKnown(credential) ? undefined : refusal
    },
    check: (request) => throwIf(refusalOf(request)),
    add(request) {
      const now = performance.now()
      const caller = callerOf(request)
      const before = rate.spend(caller, now)
      const { waitMs } = rate.look(caller, now)
      if (waitMs > 0) overUntil = Math.max(overUntil, now + waitMs)
      throwIf(refusalAfter(caller, before.waitMs))
    },
  }
}
