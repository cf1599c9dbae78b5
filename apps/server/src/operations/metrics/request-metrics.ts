import { errorTable } from '@plant-store/contract'
import { Counter, Histogram, type Registry } from '@prometheus-io/client'
import type { RequestObserver, RequestOutcome } from '../../http/request-observer.ts'
import { type LimiterObserver, refusalReasons } from '../../limits/refusals.ts'

/**
 * Upper bounds in seconds, from a commit on a fast disk (0.1 ms) to the time after which callers
 * give up. With three to four steps a decade a percentile is within a third of its true value.
 */
export const DURATION_BUCKETS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

const OUTCOMES = [
  'created',
  'already_there',
  ...(Object.keys(errorTable) as (keyof typeof errorTable)[]),
] as const satisfies readonly RequestOutcome[]

const STATUSES = new Set([200, ...Object.values(errorTable).map(({ status }) => status)])

/** Counts replies by outcome, and measures how long they took by status. */
export function createRequestObserver(registers: Registry[]): RequestObserver {
  const creates = new Counter({
    name: 'plant_store_creates_total',
    help: 'Replies to requests to create a plant, by outcome: created, already_there, or the name of the error.',
    labelNames: ['outcome'],
    registers,
  })
  const duration = new Histogram({
    name: 'plant_store_request_duration_seconds',
    help: 'From the end of the headers of a request to the moment when its reply is written to the connection.',
    labelNames: ['status'],
    buckets: DURATION_BUCKETS,
    registers,
  })
  const counters = new Map<string, ReturnType<typeof creates.labels>>()
  for (const outcome of OUTCOMES) {
    // A rate sees the first increase of a series only if it was there before.
    creates.inc({ outcome }, 0)
    counters.set(outcome, creates.labels(outcome))
  }
  duration.zero({ status: '200' })
  const durations = new Map(
    [...STATUSES].map((status) => [status, duration.labels(String(status))] as const),
  )
  return {
    answered(outcome, status, durationMs) {
      counters.get(outcome)?.inc()
      if (durationMs !== undefined) durations.get(status)?.observe(durationMs / 1_000)
    },
  }
}

/** Counts refusals by the limit. */
export function createLimiterObserver(registers: Registry[]): LimiterObserver {
  const actions = new Counter({
    name: 'plant_store_limiter_actions_total',
    help: 'Requests or connections that a limit refused, by the limit.',
    labelNames: ['limiter'],
    registers,
  })
  for (const limiter of refusalReasons) actions.inc({ limiter }, 0)
  return { acted: (limiter) => actions.inc({ limiter }) }
}
