import type { Express } from 'express'
import {
  answerError,
  beginRequest,
  createBareApp,
  type PipelineOptions,
  refuseMethod,
  refusePath,
} from '../http/pipeline.ts'
import { type Store, StoreUnavailableError } from '../store/store.ts'

export interface OperationsParts extends PipelineOptions {
  readonly store: Pick<Store, 'isReady'>
}

/** What operators and their tools ask, on a listener of its own: `GET /livez`, `GET /readyz`. */
export function createOperationsApp(parts: OperationsParts): Express {
  const app = createBareApp(parts)
  app.use(beginRequest)
  app.get('/livez', (_request, response) => {
    response.json({ status: 'live' })
  })
  app.get('/readyz', async (_request, response) => {
    if (parts.isDraining()) throw new StoreUnavailableError('the server is shutting down')
    if (!(await parts.store.isReady())) throw new StoreUnavailableError('the store is not ready')
    response.json({ status: 'ready' })
  })
  app.all(['/livez', '/readyz'], refuseMethod('GET', 'HEAD'))
  app.use(refusePath)
  app.use(answerError(parts))
  return app
}
