import type { IncomingMessage } from 'node:http'
import type { FailureLimit } from '../../auth/bearer.ts'
import { RequestError, retryAfter } from '../request-error.ts'
import type { Refusal } from './admission.ts'
import type { CallerOf } from './caller-address.ts'
import { createRate } from './rate.ts'
import type { Refusals } from './refusals.ts'

export interface FailedCredentialsOptions {
  /** Failures that one caller may have in a minute; undefined for any number. */
  readonly perMinute: number | undefined
  readonly callerOf: CallerOf
  readonly refusals: Refusals
}

/** Callers that showed no valid credential too often. */
export interface FailedCredentials extends FailureLimit {
  /** The refusal of a caller over the limit, not counted. Costs almost nothing while there is none. */
  refusalOf(request: IncomingMessage): Refusal | undefined
}

const MINUTE_NS = 60_000_000_000

const error = new RequestError(
  'too_many_requests',
  'too many requests from this address had no valid token',
)

/** For a server whose callers may fail any number of times. */
const noLimit: FailedCredentials = { refusalOf: () => undefined, check: () => {}, add: () => {} }

/** The refusal of a caller that has to wait; undefined for 0 ms. */
function refusalAfter(caller: string, waitMs: number): Refusal | undefined {
  if (waitMs === 0) return undefined
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return { reason: 'failed_credentials', error, retryAfterSeconds, who: caller }
}

/**
 * Limits how often a caller may show no valid credential. A caller over the limit should still be
 * admitted with a token that this server knows: its check costs little, and a good caller may
 * share the address with a bad one.
 */
export function limitFailedCredentials(options: FailedCredentialsOptions): FailedCredentials {
  const { perMinute, callerOf, refusals } = options
  if (perMinute === undefined) return noLimit
  const rate = createRate({ unitNs: Math.round(MINUTE_NS / perMinute), burst: perMinute })
  /** Until when some caller is over the limit: while nobody is, no address is looked up. */
  let overUntil = 0

  function refusalOf(request: IncomingMessage): Refusal | undefined {
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
    refusalOf,
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
