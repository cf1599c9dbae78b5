import { encodeJson } from '@plant-store/contract'
import type { Express } from 'express'
import type { Config } from '../config/config.ts'
import { checkFraming } from '../http/framing.ts'
import {
  createBareApp,
  type PipelineOptions,
  refuseMethod,
  refusePath,
  reply,
  replyError,
} from '../http/pipeline.ts'
import { RequestError, retryAfter } from '../http/request-error.ts'
import type { Store } from '../store/store.ts'
import { checkHost } from './check-host.ts'
import type { Metrics } from './metrics/metrics.ts'
import { addOverview } from './overview/overview.ts'
import type { Readiness } from './readiness.ts'

export interface OperationsParts extends PipelineOptions, Pick<Config, 'changedSettings'> {
  /** Names and addresses that Host may have, besides the listener's own. */
  readonly hosts: readonly string[]
  readonly readiness: Pick<Readiness, 'assert'>
  readonly store: Pick<Store, 'description'>
  /** Undefined where nothing is measured; there is no `/metrics` then. */
  readonly metrics: Metrics | undefined
}

/** Without a cause for the log: it has a line when readiness changes, and probes never end. */
function notReady({ message }: Error): never {
  throw new RequestError('unavailable', `nothing was stored, try again: ${message}`, {
    headers: retryAfter(),
  })
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
  const { metrics, readiness } = parts
  const app = createBareApp()
  app.use(checkFraming)
  app.use(checkHost(parts.hosts))
  app.get('/livez', (_request, response) => {
    reply(response, encodeJson({ status: 'live' }), parts)
  })
  app.get('/readyz', async (_request, response) => {
    await readiness.assert().catch(notReady)
    reply(response, encodeJson({ status: 'ready' }), parts)
  })
  app.all(['/livez', '/readyz'], refuseMethod('GET', 'HEAD'))
  if (metrics !== undefined) {
    metrics.measureReadiness(readiness.assert)
    addMetrics(app, metrics, parts)
    addOverview(app, { ...parts, metrics, assertReady: readiness.assert })
  }
  app.use(refusePath)
  app.use(replyError(parts))
  return app
}
