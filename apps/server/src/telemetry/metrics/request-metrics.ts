import { errorTable } from '@plant-store/contract'
import { Counter, type Registry } from '@prometheus-io/client'
import { type LimiterObserver, refusalReasons } from '../../http/limits/refusals.ts'
import type { RequestObserver, RequestOutcome } from '../../http/request-observer.ts'
import { createTally, Distribution, Tallies } from './tallies.ts'

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
  const count = createTally('outcome', OUTCOMES, {
    name: 'plant_store_creates_total',
    help: 'Replies to requests to create a plant, by outcome: created, already_there, or the name of the error.',
    registers,
  })
  const durations = new Map(
    [...STATUSES].map((status) => [
      status,
      new Distribution(DURATION_BUCKETS, { status: String(status) }),
    ]),
  )
  // The others are shown once there was one: a server may never have most of them.
  const isShown = (status: number, { count }: Distribution) => status === 200 || count > 0
  new Tallies(
    {
      name: 'plant_store_request_duration_seconds',
      help: 'From the end of the headers of a request to the moment when its reply is written to the connection.',
      registers,
    },
    () => [...durations].filter((entry) => isShown(...entry)).map(([, one]) => one),
  )
  const unknownOutcomes = new Counter({
    name: 'plant_store_unknown_outcomes_total',
    help: 'Responses outcome_unknown: nobody knows whether the plant was stored.',
    registers,
  })
  return {
    answered(outcome, status, durationMs) {
      count(outcome)
      if (outcome === 'outcome_unknown') unknownOutcomes.inc()
      if (durationMs !== undefined) durations.get(status)?.observe(durationMs / 1_000)
    },
  }
}

/** Counts refusals by the limit. */
export function createLimiterObserver(registers: Registry[]): LimiterObserver {
  const acted = createTally('limiter', refusalReasons, {
    name: 'plant_store_limiter_actions_total',
    help: 'Requests or connections that a limit refused, by the limit.',
    registers,
  })
  return { acted }
}
