import type { MetricObjectWithValues, MetricValue } from '@prometheus-io/client'

/** A metric with its values, as the registry gives it. */
export type Reading = MetricObjectWithValues<MetricValue<string>>

export type Labels = Readonly<Partial<Record<string, string | number>>>

/** One value of a metric: a line of `/metrics`. */
export interface Measured {
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

/** Metrics that start anew at each reading. */
export const LAG_P99 = 'nodejs_eventloop_lag_p99_seconds'
export const LAG_MAX = 'nodejs_eventloop_lag_max_seconds'
