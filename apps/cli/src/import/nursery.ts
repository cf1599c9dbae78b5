import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Of all its halves. By default V8 uses up to 64 MiB, and fetch fills them. */
const NURSERY_BYTES = 4 * 1024 * 1024

function isFull(): boolean {
  const nursery = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  return nursery !== undefined && nursery.space_size >= NURSERY_BYTES
}

/**
 * Keeps the nursery, where V8 makes new objects, from growing beyond 4 MiB, until the return value is
 * called. V8 reads the largest size only at its start, but the growth factor at each growth. Of the
 * memory of a long import this is a third.
 */
export function boundNursery(): () => void {
  let factor = 2
  // A nursery changes its size only at a garbage collection.
  const observer = new PerformanceObserver(() => {
    const wanted = isFull() ? 1 : 2
    if (wanted === factor) return
    factor = wanted
    setFlagsFromString(`--semi-space-growth-factor=${factor}`)
  })
  observer.observe({ entryTypes: ['gc'] })
  return () => observer.disconnect()
}
