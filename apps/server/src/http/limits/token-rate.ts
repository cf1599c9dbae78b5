import { headerNames } from '@plant-store/contract'
import type { RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { SpendRates } from '../../store/store.ts'
import { addHeader } from '../reply.ts'
import { RequestError, retryAfter } from '../request-error.ts'
import { createRate, type RateShare, type RateState } from './rate.ts'
import type { Refusals } from './refusals.ts'
import { type Spend, shareRate } from './shared-rate.ts'

export interface TokenRateOptions {
  /** Requests of one token in a second, in the long run. */
  readonly perSecond: number
  /** The burst: the rate of this many seconds may be used at once. */
  readonly windowSeconds: number
  readonly refusals: Refusals
  /** Counts for several servers together; undefined if this server counts for itself. */
  readonly spendRates: SpendRates | undefined
  readonly log: Logger
  readonly tokenRates: RateShare
}

const SECOND_NS = 1_000_000_000

/**
 * The seconds over which a caller should spread the remaining quota: as many as it takes to grow
 * back, so that a caller that does so is never refused.
 */
function effectiveWindow({ remaining, waitMs }: RateState, perSecond: number): number {
  return Math.max(1, Math.ceil(waitMs / 1_000), Math.ceil(remaining / perSecond))
}

function createSpend(options: TokenRateOptions): Spend {
  const { perSecond, windowSeconds, spendRates, log, tokenRates } = options
  const unitNs = Math.round(SECOND_NS / perSecond)
  const limit = { unitNs, burst: perSecond * windowSeconds }
  const own = createRate(limit, tokenRates)
  if (spendRates !== undefined) return shareRate(limit, { own, spendRates, log })
  return (key) => own.spend(key, performance.now())
}

/**
 * Limits the requests of each token, and reports what is left in the RateLimit fields
 * (draft-ietf-httpapi-ratelimit-headers-11). Comes after the credential and before the body.
 * @throws RequestError `too_many_requests`
 */
export function limitTokenRate(options: TokenRateOptions): RequestHandler {
  const { perSecond, windowSeconds, refusals } = options
  const quota = perSecond * windowSeconds
  const spend = createSpend(options)
  const policy = `"token";q=${quota};w=${windowSeconds}`

  return (_request, response, next) => {
    const { tokenId = '', tokenName } = response.locals

    const admit = (before: RateState): void => {
      const isRefused = before.waitMs > 0
      const state = isRefused ? before : { remaining: before.remaining - 1, waitMs: 0 }
      const window = effectiveWindow(state, perSecond)
      addHeader(response, headerNames.rateLimitPolicy, policy)
      addHeader(response, headerNames.rateLimit, `"token";r=${state.remaining};t=${window}`)
      if (!isRefused) {
        next()
        return
      }
      refusals.count('rate', tokenName)
      throw new RequestError('too_many_requests', `this token may send ${perSecond} a second`, {
        headers: retryAfter(window),
      })
    }
    const before = spend(tokenId)
    return before instanceof Promise ? before.then(admit) : admit(before)
  }
}
