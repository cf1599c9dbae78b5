/** Keeps every latency, so that percentiles are exact. */
export function createLatencies() {
  let values = new Float64Array(1 << 18)
  let count = 0
  return {
    count: () => count,
    add(ms: number) {
      if (count === values.length) {
        const larger = new Float64Array(2 * count)
        larger.set(values)
        values = larger
      }
      values[count++] = ms
    },
    /** The latencies that these shares of all, in percent, did not exceed; NaN of none. */
    percentiles(percents: readonly number[]): number[] {
      const sorted = values.slice(0, count).sort()
      const last = count - 1
      return percents.map(
        (percent) => sorted[Math.min(last, Math.floor((percent / 100) * count))] ?? Number.NaN,
      )
    },
  }
}
