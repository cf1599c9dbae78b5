import { collectDefaultMetrics, Gauge, type MetricValue, Registry } from '@prometheus-io/client'
import type { JwksObserver } from '../../auth/key-ring.ts'
import type { TokenCacheObserver } from '../../auth/token-cache.ts'
import type { RequestObserver } from '../../http/request-observer.ts'
import type { LimiterObserver } from '../../limits/refusals.ts'
import { build } from '../../process/build.ts'
import { within } from '../../process/within.ts'
import type { CheckObserver, StoreObserver } from '../../store/observer.ts'
import type { Store } from '../../store/store.ts'
import type { Ends } from '../ends/ends.ts'
import { addBackupMeasures } from './backup-metrics.ts'
import { createCheckObserver } from './check-metrics.ts'
import { createJwksObserver, createTokenCacheObserver } from './credential-metrics.ts'
import { addLifeMetrics } from './life-metrics.ts'
import type { Measured } from './measured.ts'
import { createLimiterObserver, createRequestObserver } from './request-metrics.ts'
import { addStoreMeasures, createStoreObserver } from './store-metrics.ts'
import { createTokenObserver, type TokenObserver } from './token-metrics.ts'

/**
 * The metrics of one server: an observer for each part of it, and the text of all metrics.
 * A create costs three calls of observers and its share of two more, together 1.5 µs.
 */
export interface Metrics {
  readonly requests: RequestObserver
  readonly store: StoreObserver
  readonly tokenCache: TokenCacheObserver
  readonly tokens: TokenObserver
  readonly limiters: LimiterObserver
  readonly jwks: JwksObserver
  readonly checks: CheckObserver
  /** From now on each scrape reads the measures of the store. */
  measureStore(store: Pick<Store, 'measure'>): void
  /** From now on each scrape shows how this run and earlier ones ended. */
  measureEnds(ends: Pick<Ends, 'totals'>): void
  /** From now on each scrape calls this, which rejects while the server is not ready. */
  measureReadiness(assertReady: () => Promise<void>): void
  /** From now on each scrape counts the open connections of the service. */
  measureConnections(count: () => number): void
  /** The values of one metric; none where there is no metric of this name. */
  read(name: string): Promise<readonly Measured[]>
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

async function readMetric(registry: Registry, name: string): Promise<readonly Measured[]> {
  const metric = await registry.getSingleMetric(name)?.get()
  const values: readonly (MetricValue<string> & { readonly metricName?: string })[] =
    metric?.values ?? []
  return values.map(({ metricName = name, labels, value }) => ({ name: metricName, labels, value }))
}

/** Starts to measure the server and its process; each server has a registry of its own. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  addBuildInfo(registers)
  return {
    requests: createRequestObserver(registers),
    store: createStoreObserver(registers),
    tokenCache: createTokenCacheObserver(registers),
    tokens: createTokenObserver(registers),
    limiters: createLimiterObserver(registers),
    jwks: createJwksObserver(registers),
    checks: createCheckObserver(registers),
    measureStore(store) {
      addStoreMeasures(registers, store)
      addBackupMeasures(registers, store)
    },
    measureEnds: (ends) => addLifeMetrics(registers, ends),
    measureReadiness: (assertReady) => addReadiness(registers, assertReady),
    measureConnections: (count) => addConnections(registers, count),
    read: (name) => readMetric(registry, name),
    contentType: registry.contentType,
    print: () => registry.metrics(),
  }
}
