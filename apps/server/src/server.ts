import type { Logger } from 'pino'
import type { Authenticate } from './auth/authenticate.ts'
import { type Address, closeListener, createListener, listen } from './http/listener.ts'
import { createOperationsApp } from './operations/app.ts'
import { createService, type ServiceLimits } from './service.ts'
import type { Store } from './store/store.ts'

export interface ServerOptions extends ServiceLimits {
  readonly store: Pick<Store, 'plants' | 'isReady'>
  readonly authenticate: Authenticate
  readonly log: Logger
  readonly listen: Address
  /** Where liveness and readiness are told; undefined for nowhere. */
  readonly operationsListen: Address | undefined
  /** How long requests in flight may take to end once the server is closing. */
  readonly shutdownTimeoutMs: number
}

export interface RunningServer {
  readonly url: string
  readonly operationsUrl: string | undefined
  /** Not ready, no new connections, answers what is in flight. The store stays open. */
  close(): Promise<void>
}

/**
 * Serves a store on its two listeners.
 * @throws the error of Node's listen, such as EADDRINUSE; nothing listens then.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { store, log, shutdownTimeoutMs } = options
  let isDraining = false
  const pipeline = {
    log,
    bodyLimitBytes: options.bodyLimitBytes,
    isDraining: () => isDraining,
  }
  const parts = { ...pipeline, plants: store.plants, authenticate: options.authenticate }
  const server = createService(parts, options)
  const url = await listen(server, options.listen)

  const operations = createListener(createOperationsApp({ ...pipeline, store }), options, log)
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
    async close() {
      isDraining = true
      await closeListener(server, shutdownTimeoutMs)
      if (operationsUrl !== undefined) await closeListener(operations, 0)
    },
  }
}
