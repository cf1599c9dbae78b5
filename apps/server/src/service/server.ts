import { closeListener, countConnections } from '../http/close-listener.ts'
import { createDeferReply } from '../http/deferred-replies.ts'
import { FailureLog } from '../http/failure-log.ts'
import { createListener, listen } from '../http/listener.ts'
import { type PipelineOptions, readTarget } from '../http/pipeline.ts'
import { createOperationsApp } from '../operations/app.ts'
import type { Metrics } from '../operations/metrics/metrics.ts'
import { watchReadiness } from '../operations/readiness.ts'
import type { Store } from '../store/store.ts'
import { createService, type ServiceOptions } from './service.ts'

export interface ServerOptions extends ServiceOptions, Pick<PipelineOptions, 'log'> {
  readonly store: Pick<Store, 'plants' | 'isReady' | 'spendRates' | 'description'>
  /** What the server reports to, and serves at `/metrics`; undefined to measure nothing. */
  readonly metrics?: Metrics | undefined
}

export interface RunningServer {
  readonly url: string
  readonly operationsUrl: string | undefined
  /** Not ready from now on, while requests are served; each reply ends its connection. */
  announceClose(): void
  /** Accepts no new connections and answers what is in flight. The store stays open. */
  close(): Promise<void>
}

/**
 * Serves a store on its two listeners.
 * @throws the error of Node's listen, such as EADDRINUSE; nothing listens then.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { store, log, metrics, bodyLimitBytes, shutdownTimeoutMs, operationsListen } = options
  let isDraining = false
  const readiness = watchReadiness({ log, store, isDraining: () => isDraining })
  const failures = new FailureLog(log, readiness.suspect)
  const pipeline = { log, failures, bodyLimitBytes, isDraining: () => isDraining }
  const deferReply = createDeferReply(log)
  const service = createService(options, {
    ...pipeline,
    observer: metrics?.requests,
    deferReply,
  })
  metrics?.measureConnections(() => countConnections(service))
  const url = await listen(service, options.listen)

  const hosts = [...options.operationsHosts, operationsListen?.host ?? '']
  const operationsParts = { ...options, ...pipeline, readiness, metrics, hosts }
  const operations = createListener(createOperationsApp(operationsParts), options, pipeline, {
    checks: [readTarget(pipeline)],
  })
  let operationsUrl: string | undefined
  try {
    operationsUrl = operationsListen && (await listen(operations, operationsListen))
  } catch (error) {
    await closeListener(service, 0)
    throw error
  }
  readiness.start()

  return {
    url,
    operationsUrl,
    announceClose() {
      isDraining = true
    },
    async close() {
      isDraining = true
      readiness.close()
      await closeListener(service, shutdownTimeoutMs)
      if (operationsUrl !== undefined) await closeListener(operations, 0)
      failures.flush()
    },
  }
}
