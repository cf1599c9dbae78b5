const numbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

const BYTES_PER_MEGABYTE = 1_000_000

function formatAmount(amount: number): string {
  return amount < 10 ? amount.toFixed(1) : numbers.format(amount)
}

/** How long work took and how fast it was: `2.1 s (476,190 plants/s, 31 MB/s)`. */
export function describeWork(plants: number, bytes: number, milliseconds: number): string {
  const seconds = Math.max(milliseconds, 1) / 1_000
  const rates = [
    `${numbers.format(plants / seconds)} plants/s`,
    `${formatAmount(bytes / BYTES_PER_MEGABYTE / seconds)} MB/s`,
  ]
  return `${formatAmount(seconds)} s (${rates.join(', ')})`
}

/** `31 MB` */
export function describeSize(bytes: number): string {
  return `${formatAmount(bytes / BYTES_PER_MEGABYTE)} MB`
}
