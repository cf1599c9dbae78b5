import { PERCENTILES } from '../measurement.ts'

/** The middle value, or the mean of the two in the middle; NaN of nothing. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** One value of each round, summed up. */
export interface Summary {
  readonly low: number
  readonly median: number
  readonly high: number
}

export function summarise(values: readonly number[]): Summary {
  return { low: Math.min(...values), median: medianOf(values), high: Math.max(...values) }
}

/** Three significant digits by default, and a comma between thousands; a dash for NaN. */
export function formatNumber(value: number, maximumSignificantDigits = 3): string {
  return Number.isNaN(value) ? '–' : value.toLocaleString('en', { maximumSignificantDigits })
}

/** The median, and the range in parentheses. */
export function formatSummary({ low, median, high }: Summary): string {
  return `${formatNumber(median)} (${formatNumber(low)}–${formatNumber(high)})`
}

/** The latency that so many percent of the requests do not exceed, in ms. */
export function percentileOf(
  { latenciesMs }: { readonly latenciesMs: readonly number[] },
  percent: (typeof PERCENTILES)[number],
): number {
  return latenciesMs[PERCENTILES.indexOf(percent)] ?? Number.NaN
}
