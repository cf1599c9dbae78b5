import { LAG_MAX, LAG_P99 } from '../metrics/measured.ts'
import type { Column, History } from './history.ts'
import type { Derived, Series } from './reply.ts'
import { PLOTTED } from './shown.ts'

/** A value for each sample; NaN where there is none. */
type Values = (index: number) => number

const FRACTIONS: Readonly<Record<string, number>> = { p50: 0.5, p90: 0.9, p99: 0.99 }

function readColumn(history: History, { ring }: Column): Values {
  return (index) => ring[history.slotOf(index)] ?? Number.NaN
}

/** How much a counter has grown since the sample before. */
function increaseOf(values: Values): Values {
  return (index) => (index === 0 ? Number.NaN : values(index) - values(index - 1))
}

function rateOf(history: History, values: Values): Values {
  const increase = increaseOf(values)
  return (index) => (increase(index) / (history.timeOf(index) - history.timeOf(index - 1))) * 1_000
}

interface Bucket {
  readonly bound: number
  /** Of observations up to the bound, since the sample before. */
  readonly increase: Values
}

/**
 * A percentile of what was observed since the sample before, by linear interpolation in its bucket
 * like Prometheus's histogram_quantile; beyond the last bound it is that bound.
 */
function percentileOf(buckets: readonly Bucket[], count: Values, fraction: number): Values {
  return (index) => {
    const rank = count(index) * fraction
    if (!(rank > 0)) return Number.NaN
    let [low, below] = [0, 0]
    for (const { bound, increase } of buckets) {
      const upTo = increase(index)
      if (upTo >= rank) return low + ((bound - low) * (rank - below)) / (upTo - below)
      low = bound
      below = upTo
    }
    return low
  }
}

/** The parts of one histogram among the columns, which has no labels but `le` and a constant one. */
function deriveHistogram(history: History, name: string, as: Derived): Values | undefined {
  const columns = [...history.columns]
  const find = (suffix: string) => columns.find((column) => column.name === name + suffix)
  const [sum, count] = [find('_sum'), find('_count')]
  if (sum === undefined || count === undefined) return undefined
  const counted = increaseOf(readColumn(history, count))
  if (as === 'mean') {
    const summed = increaseOf(readColumn(history, sum))
    return (index) => summed(index) / counted(index)
  }
  const buckets = columns
    .filter((column) => column.name === `${name}_bucket` && column.labels.le !== '+Inf')
    .map((column) => ({
      bound: Number(column.labels.le),
      increase: increaseOf(readColumn(history, column)),
    }))
    .toSorted((one, other) => one.bound - other.bound)
  return percentileOf(buckets, counted, FRACTIONS[as] ?? 0)
}

/** Four digits, which is more than a plot shows. */
function round(value: number): number | null {
  return Number.isFinite(value) ? Number(value.toPrecision(4)) : null
}

type Line = Omit<Series, 'values'> & { readonly read: Values }

function linesOf(history: History, name: string, as: Derived): Line[] {
  if (as !== 'value' && as !== 'rate') {
    const read = deriveHistogram(history, name, as)
    return read === undefined ? [] : [{ name, labels: {}, as, read }]
  }
  const columns = [...history.columns].filter((column) => column.name === name)
  return columns.map((column) => {
    const values = readColumn(history, column)
    const read = as === 'rate' ? rateOf(history, values) : values
    return { name, labels: column.labels, as, read }
  })
}

const SHOWN: readonly (readonly [string, readonly Derived[]])[] = [
  ...Object.entries(PLOTTED),
  [LAG_P99, ['value']],
  [LAG_MAX, ['value']],
]

/** What the page plots: the samples after `since`, at most those of the last hour. */
export function deriveSeries(
  history: History,
  since: number,
): { readonly times: readonly number[]; readonly series: readonly Series[] } {
  const all = Array.from({ length: history.length }, (_, index) => index)
  // Of a full ring the oldest has nothing to be compared with.
  const wanted = all.slice(-360).filter((index) => history.timeOf(index) > since)
  const lines = SHOWN.flatMap(([name, several]) =>
    several.flatMap((as) => linesOf(history, name, as)),
  )
  const series = lines.map(({ read, ...line }) => ({
    ...line,
    values: wanted.map((index) => round(read(index))),
  }))
  return { times: wanted.map((index) => history.timeOf(index)), series }
}
