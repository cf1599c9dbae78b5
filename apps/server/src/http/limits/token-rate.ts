import { headerNames } from '@plant-store/contract'
import type { RequestHandler } from 'express'
import { addHeader } from '../reply.ts'
import { RequestError, retryAfter } from '../request-error.ts'
import { createRate, type RateState } from './rate.ts'
import type { Refusals } from './refusals.ts'

export interface TokenRateOptions {
  /** Requests of one token in a second, in the long run, and at once. */
  readonly perSecond: number
  readonly refusals: Refusals
}

const SECOND_NS = 1_000_000_000

/**
 * The seconds over which a caller should spread the remaining quota: as many as it takes to grow
 * back, so that a caller that does so is never refused.
 */
function effectiveWindow({ remaining, waitMs }: RateState, perSecond: number): number {
  return Math.max(1, Math.ceil(waitMs / 1_000), Math.ceil(remaining / perSecond))
}

/**
 * Limits the requests of each token, and reports what is left in the RateLimit fields
 * (draft-ietf-httpapi-ratelimit-headers-11). Comes after the credential and before the body.
 * @throws RequestError `too_many_requests`
 */
export function limitTokenRate(options: TokenRateOptions): RequestHandler {
  const { perSecond, refusals } = options
  const rate = createRate({ unitNs: Math.round(SECOND_NS / perSecond), burst: perSecond })
  const policy = `"token";q=${perSecond};w=1`

  return (_request, response, next) => {
    const { tokenId = '', tokenName } = response.locals
    const before = rate.spend(tokenId, performance.now())
    const isRefused = before.waitMs > 0
    const state = isRefused ? before : { remaining: before.remaining - 1, waitMs: 0 }
    const window = effectiveWindow(state, perSecond)
    addHeader(response, headerNames.rateLimitPolicy, policy)
    addHeader(response, headerNames.rateLimit, `"token";r=${state.remaining};t=${window}`)
    if (!isRefused) return next()
    refusals.count('rate', tokenName)
    throw new RequestError('too_many_requests', `this token may send ${perSecond} a second`, {
      headers: retryAfter(window),
    })
  }
}
