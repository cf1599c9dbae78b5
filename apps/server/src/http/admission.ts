import type { Request, Response } from 'express'
import type { Logger } from 'pino'
import { framingProblemOf } from './framing.ts'
import { type EarlyCheck, type PipelineOptions, refuse } from './pipeline.ts'
import { type RequestError, retryAfter } from './request-error.ts'
import { addHeader } from './response.ts'

/** The limits that refuse: see docs/interface.md. */
export const refusalReasons = [
  'connections',
  'address_connections',
  'address_requests',
  'slow',
  'requests_in_flight',
  'overload',
  'failed_credentials',
  'rate',
] as const

export type RefusalReason = (typeof refusalReasons)[number]

/** Why a request is refused, and with which error. */
export interface Refusal {
  readonly reason: RefusalReason
  readonly error: RequestError
  /** For Retry-After; 1 by default. */
  readonly retryAfterSeconds?: number
  /** Whom the log names: an address. */
  readonly who?: string
}

/** Returns the refusal of a request; undefined if the request may go on. */
export type Limit = (request: Request, response: Response) => Refusal | undefined

/** Is notified of each refusal, to measure them. */
export interface LimiterObserver {
  acted(reason: RefusalReason): void
}

const SUMMARY_MS = 1_000

/** Callers that one line names, so that it stays short. */
const NAMES_PER_LINE = 10

/**
 * Counts refusals and logs one line a second for all of them: a line for each would cost more than
 * the refusal, just when the server has no time.
 */
export function createRefusals(log: Logger, observer?: LimiterObserver) {
  const refused = new Map<RefusalReason, number>()
  const callers = new Set<string>()

  function summarize(): void {
    log.warn(
      { refused: Object.fromEntries(refused), callers: [...callers] },
      'limits refused requests',
    )
    refused.clear()
    callers.clear()
  }

  return {
    /** `who` is named in the log: an address, or the name of a token. */
    count(reason: RefusalReason, who?: string): void {
      observer?.acted(reason)
      if (refused.size === 0) setTimeout(summarize, SUMMARY_MS).unref()
      refused.set(reason, (refused.get(reason) ?? 0) + 1)
      if (who !== undefined && callers.size < NAMES_PER_LINE) callers.add(who)
    },
  }
}

export type Refusals = ReturnType<typeof createRefusals>

/**
 * Refuses requests before the app, without making an error and without a line in the log: a refusal
 * helps only while it costs less than a create. A request with a framing problem goes on, because the
 * app answers it and closes its connection.
 */
export function refuseEarly(
  limit: Limit,
  pipeline: PipelineOptions,
  refusals: Refusals,
): EarlyCheck {
  return (request, response) => {
    const refusal = limit(request, response)
    if (refusal === undefined || framingProblemOf(request) !== undefined) return true
    const { reason, error, retryAfterSeconds, who } = refusal
    refusals.count(reason, who)
    pipeline.observer?.answered(error.errorName, error.status, undefined)
    addHeader(response, ...retryAfter(retryAfterSeconds))
    refuse(response, error, pipeline)
    return false
  }
}
