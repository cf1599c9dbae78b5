import type { RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { Authenticate } from '../auth/authenticate.ts'
import { closeListener } from '../http/close-listener.ts'
import { type Address, createListener, listen } from '../http/listener.ts'
import { createOperationsApp } from '../operations/app.ts'
import type { Metrics } from '../operations/metrics/metrics.ts'
import type { Store } from '../store/store.ts'
import { createService, type ServiceLimits } from './service.ts'

export interface ServerOptions extends ServiceLimits {
  readonly store: Pick<Store, 'plants' | 'isReady' | 'spendRates'>
  readonly authenticate: Authenticate
  /** Sees each request of the service before anything else does. */
  readonly traceRequest?: RequestHandler | undefined
  readonly log: Logger
  readonly listen: Address
  /** What is told of the requests, and printed at `/metrics`; undefined to measure nothing. */
  readonly metrics?: Metrics | undefined
  /** Where liveness, readiness and metrics are told; undefined for nowhere. */
  readonly operationsListen: Address | undefined
  /** What else may stand in Host there, beside its own address and localhost. */
  readonly operationsHosts: readonly string[]
  /** Whether the OpenAPI document and its page are served. */
  readonly docs: boolean
  /** The base address that the document names; undefined for the one that a request names. */
  readonly publicUrl: string | undefined
  /** How long requests in flight may take to end once the server is closing. */
  readonly shutdownTimeoutMs: number
}

export interface RunningServer {
  readonly url: string
  readonly operationsUrl: string | undefined
  /** Not ready from now on, while requests are served; each reply ends its connection. */
  announceClose(): void
  /** Not ready, no new connections, answers what is in flight. The store stays open. */
  close(): Promise<void>
}

/**
 * Serves a store on its two listeners.
 * @throws the error of Node's listen, such as EADDRINUSE; nothing listens then.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { store, log, metrics, shutdownTimeoutMs, docs, publicUrl } = options
  let isDraining = false
  const pipeline = {
    log,
    bodyLimitBytes: options.bodyLimitBytes,
    isDraining: () => isDraining,
  }
  const { authenticate, traceRequest } = options
  const observed = { ...pipeline, observer: metrics?.requests }
  const parts = { ...observed, plants: store.plants, authenticate, traceRequest, docs, publicUrl }
  const server = createService(
    { ...parts, limiterObserver: metrics?.limiters, spendRates: store.spendRates },
    options,
  )
  const url = await listen(server, options.listen)

  const operationsApp = createOperationsApp({
    ...pipeline,
    store,
    metrics,
    hosts: [...options.operationsHosts, options.operationsListen?.host ?? ''],
  })
  const operations = createListener(operationsApp, options, pipeline)
  let operationsUrl: string | undefined
  try {
    operationsUrl = options.operationsListen && (await listen(operations, options.operationsListen))
  } catch (error) {
    await closeListener(server, 0)
    throw error
  }

  return {
    url,
    operationsUrl,
    announceClose() {
      isDraining = true
    },
    async close() {
      isDraining = true
      await closeListener(server, shutdownTimeoutMs)
      if (operationsUrl !== undefined) await closeListener(operations, 0)
    },
  }
}
