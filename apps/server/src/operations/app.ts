import { encodeJson } from '@plant-store/contract'
import type { Express } from 'express'
import { checkFraming } from '../http/framing.ts'
import {
  createBareApp,
  type PipelineOptions,
  refuseMethod,
  refusePath,
  reply,
  replyError,
} from '../http/pipeline.ts'
import { type Store, StoreUnavailableError } from '../store/store.ts'
import { checkHost } from './check-host.ts'
import type { Metrics } from './metrics/metrics.ts'

export interface OperationsParts extends PipelineOptions {
  /** Names and addresses in Host that are answered beside the listener's own. */
  readonly hosts: readonly string[]
  readonly store: Pick<Store, 'isReady'>
  /** Undefined where nothing is measured; `/metrics` is not there then. */
  readonly metrics: Metrics | undefined
}

function addMetrics(app: Express, metrics: Metrics, options: PipelineOptions): void {
  app.get('/metrics', async (_request, response) => {
    const { contentType } = metrics
    reply(response, await metrics.print(), options, { contentType })
  })
  app.all('/metrics', refuseMethod('GET', 'HEAD'))
}

/**
 * What operators and their tools ask, on a listener of its own: `GET /livez`, `GET /readyz`,
 * `GET /metrics`.
 */
export function createOperationsApp(parts: OperationsParts): Express {
  const { store, metrics, isDraining } = parts
  const app = createBareApp()
  app.use(checkFraming)
  app.use(checkHost(parts.hosts))
  app.get('/livez', (_request, response) => {
    reply(response, encodeJson({ status: 'live' }), parts)
  })
  app.get('/readyz', async (_request, response) => {
    if (isDraining()) throw new StoreUnavailableError('the server is shutting down')
    if (!(await store.isReady())) throw new StoreUnavailableError('the store is not ready')
    reply(response, encodeJson({ status: 'ready' }), parts)
  })
  app.all(['/livez', '/readyz'], refuseMethod('GET', 'HEAD'))
  if (metrics !== undefined) {
    metrics.watchReadiness(async () => !isDraining() && (await store.isReady()))
    addMetrics(app, metrics, parts)
  }
  app.use(refusePath)
  app.use(replyError(parts))
  return app
}
