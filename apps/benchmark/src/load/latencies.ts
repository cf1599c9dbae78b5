export interface Latencies {
  readonly count: () => number
  readonly add: (ms: number) => void
  /** The latency that this share of all (0 to 1) did not exceed. */
  readonly percentile: (share: number) => number
}

/** Keeps every latency, so that percentiles are exact. */
export function createLatencies(): Latencies {
  let values = new Float64Array(1 << 18)
  let count = 0
  return {
    count: () => count,
    add(ms) {
      if (count === values.length) {
        const larger = new Float64Array(2 * count)
        larger.set(values)
        values = larger
      }
      values[count++] = ms
    },
    percentile(share) {
      const sorted = values.slice(0, count).sort()
      return sorted[Math.min(count - 1, Math.floor(share * count))] ?? Number.NaN
    },
  }
}
