import { openAuthenticate } from '../auth/authenticate.ts'
import type { Config } from '../config/config.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { ServiceOptions } from './service.ts'
import { createServiceListener, type ServiceListener } from './service-listener.ts'

/** What the service works with. */
export interface ServiceParts extends Pick<Telemetry, 'log' | 'metrics' | 'tracing'> {
  readonly store: Store
  /** Aborts a fetch of keys. */
  readonly stop: AbortSignal
  /** Called when a request could not be served. */
  readonly onFailure: () => void
}

/**
 * Makes the service over an open store, with the check of credentials.
 * @throws ConfigError for a JWKS file without a usable key.
 */
export async function openService(
  config: Config,
  { store, log, metrics, tracing, stop, onFailure }: ServiceParts,
): Promise<ServiceListener> {
  const authenticate = await openAuthenticate(store.tokens, config, {
    log,
    stop,
    observer: metrics,
  })
  const options: ServiceOptions & { readonly metrics: Metrics | undefined } = {
    ...config,
    metrics,
    store,
    authenticate,
    traceRequest: tracing?.traceRequest,
  }
  return createServiceListener({ ...options, log, metrics }, onFailure)
}
