import type { RequestHandler } from 'express'
import { addHeader } from '../http/answer.ts'
import { RequestError } from '../http/request-error.ts'
import { createRate, type RateState } from './rate.ts'
import type { Refusals } from './refusals.ts'

export interface TokenRateOptions {
  /** Requests of one token in a second, in the long run. */
  readonly perSecond: number
  /** Of so many seconds the whole rate may be used at once. */
  readonly windowSeconds: number
  readonly refusals: Refusals
}

/** More tokens than any service has in use at a time. */
const TOKEN_LIMIT = 100_000

/**
 * The seconds in which no more than the remaining quota should be used: as long as it takes to
 * grow back, so that a caller that keeps to both is never refused.
 */
function effectiveWindow({ remaining, waitMs }: RateState, perSecond: number): number {
  return Math.max(1, Math.ceil(waitMs / 1_000), Math.ceil(remaining / perSecond))
}

/**
 * Limits the requests of each token, and tells what is left by the RateLimit fields
 * (draft-ietf-httpapi-ratelimit-headers-11). Comes after the credential and before the body.
 * @throws RequestError `too_many_requests`
 */
export function limitTokenRate(options: TokenRateOptions): RequestHandler {
  const { perSecond, windowSeconds, refusals } = options
  const quota = perSecond * windowSeconds
  const rate = createRate({ perSecond, burst: quota, keyLimit: TOKEN_LIMIT })
  const policy = `"token";q=${quota};w=${windowSeconds}`

  return (_request, response, next) => {
    const { tokenId = '', tokenName } = response.locals
    const before = rate.spend(tokenId, performance.now())
    const isRefused = before.waitMs > 0
    const state = isRefused ? before : { remaining: before.remaining - 1, waitMs: 0 }
    const window = effectiveWindow(state, perSecond)
    addHeader(response, 'ratelimit-policy', policy)
    addHeader(response, 'ratelimit', `"token";r=${state.remaining};t=${window}`)
    if (!isRefused) return next()
    refusals.count('rate', tokenName)
    throw new RequestError('too_many_requests', `this token may send ${perSecond} a second`, {
      headers: ['retry-after', String(window)],
    })
  }
}
