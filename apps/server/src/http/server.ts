import type { Logger } from 'pino'
import type { Authenticate } from '../auth/bearer.ts'
import type { Config } from '../config/config.ts'
import type { Store } from '../store/store.ts'
import { createOperationsApp } from '../telemetry/app.ts'
import { watchReadiness } from '../telemetry/readiness.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { isLoopback } from '../text/loopback.ts'
import { createApp } from './app.ts'
import { closeServer, connectionsOf } from './close.ts'
import { createNodeServer, listen } from './node-server.ts'
import { limitConnections } from './per-address.ts'
import { readTarget } from './pipeline.ts'
import { FailureLog } from './request-log.ts'

export interface ServerParts extends Partial<Pick<Telemetry, 'metrics' | 'tracing'>> {
  readonly log: Logger
  readonly authenticate: Authenticate
}

export interface RunningServer {
  readonly url: string
  readonly operationsUrl: string | undefined
  /** Not ready from now on, while requests are served; each response ends its connection. */
  announceClose(): void
  /** Accepts no new connections and answers what is in flight. The store stays open. */
  close(): Promise<void>
}

/**
 * Serves a store on its two listeners: the service, and the operations beside it.
 * @throws the error of Node's listen, such as EADDRINUSE; nothing listens then.
 */
export async function startServer(
  config: Config,
  store: Pick<Store, 'plants' | 'countPlants' | 'isReady' | 'description'>,
  parts: ServerParts,
): Promise<RunningServer> {
  const { log, metrics } = parts
  const { listen: place, operationsListen, shutdownTimeoutMs } = config
  const shutdown = { hasBegun: false }
  const readiness = watchReadiness({ log, store, shutdown })
  const failures = new FailureLog(log, readiness.suspect)
  const pipeline = { ...config, log, failures, shutdown }

  const observed = { ...pipeline, observer: metrics?.requests }
  const app = createApp(config, store.plants, { ...parts, pipeline: observed })
  const service = createNodeServer(app, config, observed)
  limitConnections(service, config, app)
  metrics?.measureConnections(() => connectionsOf(service).size)

  const isLocal = isLoopback(operationsListen?.host ?? '')
  const observing = { ...pipeline, readiness, metrics, store, isLoopback: isLocal }
  const served = { app: createOperationsApp(observing), checks: [readTarget(pipeline)] }
  const operations = createNodeServer(served, config, pipeline)

  const closeAndThrow = async (error: Error) => {
    await closeServer(service, 0)
    throw error
  }
  const url = await listen(service, place)
  const operationsUrl =
    operationsListen && (await listen(operations, operationsListen).catch(closeAndThrow))
  readiness.start()

  return {
    url,
    operationsUrl,
    announceClose() {
      shutdown.hasBegun = true
    },
    async close() {
      shutdown.hasBegun = true
      readiness.close()
      await closeServer(service, shutdownTimeoutMs)
      if (operationsUrl !== undefined) await closeServer(operations, 0)
      failures.flush()
    },
  }
}
