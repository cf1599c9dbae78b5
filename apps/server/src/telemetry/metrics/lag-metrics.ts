import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, Registry } from '@prometheus-io/client'
import { LAG_MAX, LAG_P99 } from './measured.ts'

/**
 * How late the event loop was since the last reading, for the page: in a registry of its own, because
 * the metrics of the same names start anew at each scrape. Measures from the first reading on.
 */
export function createLagMetrics(): Registry {
  const registry = new Registry()
  let lag: ReturnType<typeof monitorEventLoopDelay> | undefined
  const max = new Gauge({
    name: LAG_MAX,
    help: 'The maximum event loop delay since the last reading.',
    registers: [registry],
  })
  new Gauge({
    name: LAG_P99,
    help: 'The 99th percentile of the event loop delays since the last reading.',
    registers: [registry],
    // Also sets the other, which is read after it.
    collect() {
      if (lag === undefined || lag.count === 0) {
        this.remove()
        max.remove()
      } else {
        this.set(lag.percentile(99) / 1e9)
        max.set(lag.max / 1e9)
      }
      lag ??= monitorEventLoopDelay()
      lag.enable()
      lag.reset()
    },
  })
  return registry
}
