import type { Config } from '../config/config.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { LoopPlace } from './limits/process-counts.ts'
import { openAuthenticate } from './open-authenticate.ts'
import type { ServiceOptions } from './service.ts'
import { createServiceListener, type ServiceListener } from './service-listener.ts'

/** What the service of a thread works with. */
export interface ServiceParts extends Pick<Telemetry, 'log' | 'metrics' | 'tracing'> {
  readonly store: Store
  /** Aborts a fetch of keys. */
  readonly stop: AbortSignal
  /** Where the limits count. */
  readonly limits: LoopPlace
  /** Called when a request could not be served. */
  readonly onFailure: () => void
}

/**
 * Makes the service of this thread over an open store, with the check of credentials.
 * @throws ConfigError for a JWKS file without a usable key.
 */
export async function openService(
  config: Config,
  { store, log, metrics, tracing, limits, stop, onFailure }: ServiceParts,
): Promise<ServiceListener> {
  // What it takes at a time is a part of this.
  const requestLimit = Math.ceil(config.requestLimit / limits.counts.loops)
  const authenticate = await openAuthenticate(
    store.tokens,
    { ...config, requestLimit },
    { log, stop, observer: metrics },
  )
  const options: ServiceOptions & { readonly metrics: Metrics | undefined } = {
    ...config,
    metrics,
    limits,
    store: tracing ? { ...store, plants: tracing.traceCreates(store.plants) } : store,
    authenticate: tracing?.traceCredentials(authenticate) ?? authenticate,
    traceRequest: tracing?.traceRequest,
  }
  return createServiceListener({ ...options, log, metrics }, onFailure)
}
