/** The middle value, or the mean of the two in the middle; NaN of nothing. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

/** Three significant digits, and a comma between thousands; a dash for NaN. */
export function formatNumber(value: number): string {
  return Number.isNaN(value) ? '–' : value.toLocaleString('en', { maximumSignificantDigits: 3 })
}

export function formatMedian(values: readonly number[]): string {
  return formatNumber(medianOf(values))
}

/** The median, and the range in parentheses. */
export function formatRange(values: readonly number[]): string {
  if (Number.isNaN(medianOf(values))) return formatMedian(values)
  const range = `${formatNumber(Math.min(...values))}–${formatNumber(Math.max(...values))}`
  return `${formatMedian(values)} (${range})`
}
