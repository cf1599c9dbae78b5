import { errorTable } from '@plant-store/contract'
import { Counter, Histogram, type Registry } from '@prometheus-io/client'
import type { RequestObserver, RequestOutcome } from '../../http/request-observer.ts'
import { DURATION_BUCKETS } from './buckets.ts'

const OUTCOMES = [
  'created',
  'already_there',
  ...(Object.keys(errorTable) as (keyof typeof errorTable)[]),
] as const satisfies readonly RequestOutcome[]

const STATUSES = new Set([200, ...Object.values(errorTable).map(({ status }) => status)])

/** Counts answers by outcome, and measures how long they took by status. */
export function createRequestObserver(registers: Registry[]): RequestObserver {
  const creates = new Counter({
    name: 'plant_store_creates_total',
    help: 'Answers to requests to create a plant, by what became of it: created, already_there, or the name of the error.',
    labelNames: ['outcome'],
    registers,
  })
  const duration = new Histogram({
    name: 'plant_store_request_duration_seconds',
    help: 'From the end of the headers of a request to its reply being handed to the connection.',
    labelNames: ['status'],
    buckets: DURATION_BUCKETS,
    registers,
  })
  const counters = new Map<string, ReturnType<typeof creates.labels>>()
  for (const outcome of OUTCOMES) {
    // A series that is there from the start shows its first increase.
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
