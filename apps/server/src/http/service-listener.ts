import type { Address } from '../config/setting-schemas.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { closeListener, countConnections } from './close-listener.ts'
import { createDeferReply } from './deferred-replies.ts'
import { FailureLog } from './failure-log.ts'
import { listen } from './listener.ts'
import type { PipelineOptions } from './pipeline.ts'
import { createService, type ServiceOptions } from './service.ts'

export interface ServiceListenerOptions extends ServiceOptions, Pick<PipelineOptions, 'log'> {
  readonly metrics?: Metrics | undefined
}

/** The service, made but maybe not listening yet. */
export interface ServiceListener {
  /**
   * Listens, and resolves with the address as a URL.
   * @throws the error of Node's listen, such as EADDRINUSE
   */
  listen(address: Address): Promise<string>
  /** From now on each reply ends its connection. */
  announceClose(): void
  /**
   * Accepts no new connections and answers what is in flight; the store stays open.
   * @param deadlineMs - what takes longer is cut off; by default the setting for it
   */
  close(deadlineMs?: number): Promise<void>
}

/** Makes the listener of the service. `onFailure` is called when a request could not be served. */
export function createServiceListener(
  options: ServiceListenerOptions,
  onFailure: () => void,
): ServiceListener {
  const { log, metrics, bodyLimitBytes, shutdownTimeoutMs } = options
  let isDraining = false
  const failures = new FailureLog(log, onFailure)
  const service = createService(options, {
    log,
    failures,
    bodyLimitBytes,
    isDraining: () => isDraining,
    observer: metrics?.requests,
    deferReply: createDeferReply(log),
  })
  metrics?.measureConnections(() => countConnections(service))
  return {
    listen: (address) => listen(service, address),
    announceClose() {
      isDraining = true
    },
    async close(deadlineMs = shutdownTimeoutMs) {
      isDraining = true
      await closeListener(service, deadlineMs)
      failures.flush()
    },
  }
}
