import type { Config } from '../config/config.ts'
import type { Store } from '../store/store.ts'
import { createOperationsApp } from '../telemetry/app.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { watchReadiness } from '../telemetry/readiness.ts'
import { isLoopback } from '../text/loopback.ts'
import { closeListener } from './close-listener.ts'
import { FailureLog } from './failure-log.ts'
import { createListener, listen } from './listener.ts'
import { type PipelineOptions, readTarget } from './pipeline.ts'
import { createServiceListener, type ServiceListenerOptions } from './service-listener.ts'

/** What is around the service. */
export interface FrameOptions extends Config, Pick<PipelineOptions, 'log'> {
  readonly store: Pick<Store, 'isReady' | 'description'>
  /** What `/metrics` serves; undefined to measure nothing. */
  readonly metrics?: Metrics | undefined
}

/** The service, listening. */
export interface RunningService {
  readonly url: string
  /** From now on each reply ends its connection. */
  announceClose(): void
  /**
   * Accepts no new connections and answers what is in flight; the store stays open.
   * @param deadlineMs - what takes longer is cut off; by default the setting for it
   */
  close(deadlineMs?: number): Promise<void>
}

export interface RunningServer {
  readonly url: string
  readonly operationsUrl: string | undefined
  /** Not ready from now on, while requests are served; each reply ends its connection. */
  announceClose(): void
  /** Accepts no new connections and answers what is in flight. The store stays open. */
  close(): Promise<void>
}

/** Starts the service; calls `suspect` when a request could not be served. */
export type StartService = (suspect: () => void) => Promise<RunningService>

/**
 * Starts the service, and the listener of operations beside it.
 * @throws the error of Node's listen, such as EADDRINUSE, and those of `startService`; nothing
 * listens then.
 */
export async function startAround(
  startService: StartService,
  options: FrameOptions,
): Promise<RunningServer> {
  const { store, log, metrics, operationsListen } = options
  let isDraining = false
  const readiness = watchReadiness({ log, store, isDraining: () => isDraining })
  const failures = new FailureLog(log, readiness.suspect)
  const service = await startService(readiness.suspect)

  const pipeline = { ...options, failures, isDraining: () => isDraining }
  const operationsApp = createOperationsApp({
    ...pipeline,
    readiness,
    metrics,
    isLoopback: isLoopback(operationsListen?.host ?? ''),
  })
  const checks = [readTarget(pipeline)]
  const operations = createListener(operationsApp, options, pipeline, { checks })
  let operationsUrl: string | undefined
  try {
    operationsUrl = operationsListen && (await listen(operations, operationsListen))
  } catch (error) {
    await service.close(0)
    throw error
  }
  readiness.start()

  return {
    url: service.url,
    operationsUrl,
    announceClose() {
      isDraining = true
      service.announceClose()
    },
    async close() {
      isDraining = true
      readiness.close()
      await service.close()
      if (operationsUrl !== undefined) await closeListener(operations, 0)
      failures.flush()
    },
  }
}

export interface ServerOptions extends ServiceListenerOptions {
  readonly store: Pick<Store, 'plants' | 'isReady' | 'description'>
}

/**
 * Serves a store on its two listeners.
 * @throws the error of Node's listen, such as EADDRINUSE; nothing listens then.
 */
export function startServer(options: ServerOptions): Promise<RunningServer> {
  return startAround(async (suspect) => {
    const service = createServiceListener(options, suspect)
    return { ...service, url: await service.listen(options.listen) }
  }, options)
}
