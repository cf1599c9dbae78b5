import type { IncomingMessage } from 'node:http'
import { RequestError } from '../http/request-error.ts'
import type { CallerOf } from './caller-address.ts'
import { createRate } from './rate.ts'
import type { Refusals } from './refusals.ts'

export interface FailedCredentialsOptions {
  /** Failures that one caller may have in a minute; undefined for any number. */
  readonly perMinute: number | undefined
  readonly callerOf: CallerOf
  readonly refusals: Refusals
}

/** Callers who showed no valid credential too often. */
export interface FailedCredentials {
  /** Whether the caller is over the limit. Costs next to nothing while nobody is. */
  isOver(request: IncomingMessage): boolean
  /** Counts that a caller over the limit was refused, and gives the seconds that it should wait. */
  refuse(request: IncomingMessage): string
  /**
   * Notes that a request showed no credential, or one that is not valid.
   * @throws RequestError `too_many_requests` when too many did.
   */
  add(request: IncomingMessage): void
}

/** What a caller over the limit is told. */
export const TOO_MANY_FAILED = 'too many requests from this address had no valid token'

const MINUTE_NS = 60_000_000_000

/** About 150 bytes each. */
const CALLER_LIMIT = 20_000

/** Refuses a caller that is over the limit. */
export function tooManyFailed(retryAfterSeconds: string): RequestError {
  return new RequestError('too_many_requests', TOO_MANY_FAILED, {
    headers: ['retry-after', retryAfterSeconds],
  })
}

/** For a server whose callers may be wrong as often as they like. */
const noLimit: FailedCredentials = {
  isOver: () => false,
  refuse: () => '1',
  add: () => {},
}

/**
 * Limits how often a caller may show no valid credential. Whoever is over the limit
 * should still be let in with a token that this process has met: its check costs little, and a
 * good caller may share the address with a bad one.
 */
export function limitFailedCredentials(options: FailedCredentialsOptions): FailedCredentials {
  const { perMinute, callerOf, refusals } = options
  if (perMinute === undefined) return noLimit
  const rate = createRate({
    unitNs: Math.round(MINUTE_NS / perMinute),
    burst: perMinute,
    keyLimit: CALLER_LIMIT,
  })
  // While no caller at all is over the limit, nobody's address is looked at.
  let someoneIsOverUntil = 0

  function refuse(caller: string, waitMs: number): string {
    refusals.count('failed_credentials', caller)
    return String(Math.max(1, Math.ceil(waitMs / 1_000)))
  }

  return {
    isOver(request) {
      if (performance.now() >= someoneIsOverUntil) return false
      return rate.look(callerOf(request), performance.now()).waitMs > 0
    },
    refuse(request) {
      const caller = callerOf(request)
      return refuse(caller, rate.look(caller, performance.now()).waitMs)
    },
    add(request) {
      const now = performance.now()
      const caller = callerOf(request)
      const before = rate.spend(caller, now)
      someoneIsOverUntil = Math.max(someoneIsOverUntil, now + rate.look(caller, now).waitMs)
      if (before.waitMs > 0) throw tooManyFailed(refuse(caller, before.waitMs))
    },
  }
}
