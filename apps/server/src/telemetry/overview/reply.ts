import type { Labels, Measured } from '../metrics/measured.ts'

/** What is made of a metric: its value, its increase a second, a percentile, or sum by count. */
export type Derived = 'value' | 'rate' | 'p50' | 'p90' | 'p99' | 'mean'

/** A line of a plot. */
export interface Series {
  /** The metric, without the `_bucket`, `_sum` and `_count` of a histogram. */
  readonly name: string
  readonly labels: Labels
  readonly as: Derived
  /** One for each of `times`, to four digits; null where nothing was measured or nothing happened. */
  readonly values: readonly (number | null)[]
}

/** A setting that differs from its default; passwords are left out. */
export interface ShownSetting {
  readonly name: string
  readonly text: string
  /** The flag or the variable that set it. */
  readonly source: string
}

/** What `GET /overview.json` answers. Times are Unix ms by the clock of the server. */
export interface OverviewReply {
  readonly at: number
  readonly version: string
  readonly node: string
  /** Store.description. */
  readonly store: string
  /** Why creates cannot be answered 200 now; null while the server is ready. */
  readonly notReady: string | null
  readonly settings: readonly ShownSetting[]
  /** The values of now of what is not plotted. */
  readonly facts: readonly Measured[]
  readonly intervalMs: number
  /** When each sample was taken, oldest first: those after `since`. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
}
