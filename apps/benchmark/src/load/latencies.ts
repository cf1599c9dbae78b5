import { createHistogram } from 'node:perf_hooks'
import { type LoadPart, PERCENTILES } from '../measurement.ts'

const NS_IN_MS = 1e6

/** From 1 ns to 100 s, exact to three digits. */
function createCounts() {
  return createHistogram({ lowest: 1, highest: 1e11, figures: 3 })
}

function summarise(counts: ReturnType<typeof createCounts>, seconds: number): LoadPart {
  return {
    createsPerSecond: counts.count / seconds,
    latenciesMs: PERCENTILES.map((percent) => counts.percentile(percent) / NS_IN_MS),
    maxMs: counts.max / NS_IN_MS,
  }
}

/** Latencies of the whole time and of each of its equal parts. */
export interface Latencies {
  add(ms: number): void
  /** Begins the first part. */
  start(): void
  /** Ends the last part. */
  end(): LoadPart & { readonly parts: readonly LoadPart[] }
}

/** Keeps counts instead of latencies: a load of minutes would need a pause to sort them. */
export function createLatencies(seconds: number, partCount: number): Latencies {
  const whole = createCounts()
  const counts = createCounts()
  const parts: LoadPart[] = []
  let timer: ReturnType<typeof setInterval> | undefined

  function endPart(): void {
    parts.push(summarise(counts, seconds / partCount))
    whole.add(counts)
    counts.reset()
    if (parts.length === partCount - 1) clearInterval(timer)
  }

  return {
    add: (ms) => counts.record(Math.max(1, Math.round(ms * NS_IN_MS))),
    start() {
      if (partCount > 1) timer = setInterval(endPart, (seconds * 1_000) / partCount)
    },
    end() {
      clearInterval(timer)
      endPart()
      return { ...summarise(whole, seconds), parts }
    },
  }
}
