import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

function isFull(bytes: number): boolean {
  const nursery = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  return nursery !== undefined && nursery.space_size >= bytes
}

/**
 * Keeps the nursery of this thread, where V8 makes new objects, from growing beyond a size, until the
 * return value is called. By default it grows to 64 MiB, most of which is garbage. V8 reads the
 * largest size only at its start, but the growth factor at each growth; a nursery that has shrunk may
 * grow again. The factor holds for every thread of the process: while this nursery is full, no other
 * grows.
 * @param bytes of all its halves together
 */
export function boundNursery(bytes: number): () => void {
  let factor = 1
  // Not before the turn is over: while modules are loaded it is so long that a nursery of 1 MiB, which
  // may grow, is at its largest size before anybody is told.
  setFlagsFromString('--semi-space-growth-factor=1')
  // A nursery changes its size only at a garbage collection.
  const observer = new PerformanceObserver(() => {
    const wanted = isFull(bytes) ? 1 : 2
    if (wanted === factor) return
    factor = wanted
    setFlagsFromString(`--semi-space-growth-factor=${factor}`)
  })
  observer.observe({ entryTypes: ['gc'] })
  return () => observer.disconnect()
}
