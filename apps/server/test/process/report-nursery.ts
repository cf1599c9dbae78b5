import { writeSync } from 'node:fs'
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'
import { isMainThread, threadName } from 'node:worker_threads'

// Loaded by --import in each thread: says on standard error how large its nursery is.
const name = isMainThread ? 'main' : threadName
let reported = 0
new PerformanceObserver(() => {
  const nursery = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  const mebibytes = (nursery?.space_size ?? 0) / 1024 ** 2
  if (mebibytes === reported) return
  reported = mebibytes
  writeSync(2, `nursery of ${name}: ${mebibytes} MiB\n`)
}).observe({ entryTypes: ['gc'] })
