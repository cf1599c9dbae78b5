import { collectDefaultMetrics, Gauge, type MetricValue, Registry } from '@prometheus-io/client'
import type { JwksObserver } from '../../auth/key-ring.ts'
import type { TokenCacheObserver } from '../../auth/token-cache.ts'
import type { LimiterObserver } from '../../http/limits/refusals.ts'
import type { RequestObserver } from '../../http/request-observer.ts'
import { build } from '../../process/build.ts'
import { within } from '../../process/within.ts'
import type { StoreObserver } from '../../store/observer.ts'
import type { Store } from '../../store/store.ts'
import { addBackupMeasures } from './backup-metrics.ts'
import { createJwksObserver, createTokenCacheObserver } from './credential-metrics.ts'
import { createLagMetrics } from './lag-metrics.ts'
import type { Measured, Reading } from './measured.ts'
import { createLimiterObserver, createRequestObserver } from './request-metrics.ts'
import { addStoreMeasures, createStoreObserver } from './store-metrics.ts'
import { createTokenObserver, type TokenObserver } from './token-metrics.ts'

/**
 * The metrics of a server: an observer for each part of it, and the text of all metrics.
 * A create costs three calls of observers and its share of two more, together 0.1 µs.
 */
export interface Metrics {
  readonly requests: RequestObserver
  readonly store: StoreObserver
  readonly tokenCache: TokenCacheObserver
  readonly tokens: TokenObserver
  readonly limiters: LimiterObserver
  readonly jwks: JwksObserver
  /** From now on each scrape reads the measures of the store. */
  measureStore(store: Pick<Store, 'measure'>): void
  /** From now on each scrape calls this, which rejects while the server is not ready. */
  measureReadiness(assertReady: () => Promise<void>): void
  /** From now on each scrape counts the open connections of the service. */
  measureConnections(count: () => number): void
  /** The values of some metrics; none where there is no metric of a name. */
  read(names: readonly string[]): Promise<readonly Measured[]>
  /** The Content-Type of `print`. */
  readonly contentType: string
  /** All metrics in Prometheus's text format. */
  print(): Promise<string>
}

/** Longer than a scrape should take; a store that has not answered by then is not ready. */
const READINESS_LIMIT_MS = 3_000

function addReadiness(registers: Registry[], assertReady: () => Promise<void>): void {
  new Gauge({
    name: 'plant_store_ready',
    help: '1 while /readyz would answer 200, else 0.',
    registers,
    async collect() {
      const ready = assertReady().then(
        () => 1,
        () => 0,
      )
      this.set(await within(READINESS_LIMIT_MS, ready, 0))
    },
  })
}

function addBuildInfo(registers: Registry[]): void {
  new Gauge({
    name: 'plant_store_build_info',
    help: '1, with the versions of the server and of Node.js as labels.',
    labelNames: ['version', 'node'],
    registers,
  }).set(build, 1)
}

function addConnections(registers: Registry[], count: () => number): void {
  new Gauge({
    name: 'plant_store_connections',
    help: 'Open connections of the service.',
    registers,
    collect() {
      this.set(count())
    },
  })
}

type Valued = MetricValue<string> & { readonly metricName?: string }

function valuesOf({ name, values }: Reading): Measured[] {
  return values.map(({ metricName = name, labels, value }: Valued) => ({
    name: metricName,
    labels,
    value,
  }))
}

/** Reads metrics, in the order of the names. */
function createReader(registry: Registry, lag: Registry) {
  return async (names: readonly string[]): Promise<Reading[]> => {
    const metrics = names.map((name) => lag.getSingleMetric(name) ?? registry.getSingleMetric(name))
    const readings = await Promise.all(metrics.map((metric) => metric?.get()))
    return readings.filter((reading) => reading !== undefined)
  }
}

/** Starts to measure the server and its process; each server has a registry of its own. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  addBuildInfo(registers)
  const readByName = createReader(registry, createLagMetrics())

  return {
    requests: createRequestObserver(registers),
    store: createStoreObserver(registers),
    tokenCache: createTokenCacheObserver(registers),
    tokens: createTokenObserver(registers),
    limiters: createLimiterObserver(registers),
    jwks: createJwksObserver(registers),
    measureStore(store) {
      addStoreMeasures(registers, store)
      addBackupMeasures(registers, store)
    },
    measureReadiness: (assertReady) => addReadiness(registers, assertReady),
    measureConnections: (count) => addConnections(registers, count),
    read: async (names) => (await readByName(names)).flatMap(valuesOf),
    contentType: registry.contentType,
    print: () => registry.metrics(),
  }
}
