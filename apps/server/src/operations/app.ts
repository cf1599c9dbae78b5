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
import type { Config } from '../settings/config.ts'
import { type Store, StoreUnavailableError } from '../store/store.ts'
import { checkHost } from './check-host.ts'
import type { Metrics } from './metrics/metrics.ts'
import { addOverview } from './overview/overview.ts'

export interface OperationsParts extends PipelineOptions, Pick<Config, 'changedSettings'> {
  /** Names and addresses that Host may have, besides the listener's own. */
  readonly hosts: readonly string[]
  readonly store: Pick<Store, 'isReady' | 'description'>
  /** Undefined where nothing is measured; there is no `/metrics` then. */
  readonly metrics: Metrics | undefined
}

/** @throws StoreUnavailableError with the reason while creates cannot be answered 200. */
async function assertReady({ isDraining, store }: OperationsParts): Promise<void> {
  if (isDraining()) throw new StoreUnavailableError('the server is shutting down')
  if (!(await store.isReady())) throw new StoreUnavailableError('the store is not ready')
}

function addMetrics(app: Express, metrics: Metrics, options: PipelineOptions): void {
  app.get('/metrics', async (_request, response) => {
    const { contentType } = metrics
    reply(response, await metrics.print(), options, { contentType })
  })
  app.all('/metrics', refuseMethod('GET', 'HEAD'))
}

/** The app of the operations listener: `GET /livez`, `GET /readyz`, `GET /metrics` and the page. */
export function createOperationsApp(parts: OperationsParts): Express {
  const { metrics } = parts
  const app = createBareApp()
  app.use(checkFraming)
  app.use(checkHost(parts.hosts))
  app.get('/livez', (_request, response) => {
    reply(response, encodeJson({ status: 'live' }), parts)
  })
  app.get('/readyz', async (_request, response) => {
    await assertReady(parts)
    reply(response, encodeJson({ status: 'ready' }), parts)
  })
  app.all(['/livez', '/readyz'], refuseMethod('GET', 'HEAD'))
  if (metrics !== undefined) {
    metrics.measureReadiness(() => assertReady(parts))
    addMetrics(app, metrics, parts)
    addOverview(app, { ...parts, metrics, assertReady: () => assertReady(parts) })
  }
  app.use(refusePath)
  app.use(replyError(parts))
  return app
}
