import type { Express } from 'express'
import type { Authenticate } from './auth/authenticate.ts'
import { requireBearer } from './auth/bearer.ts'
import { readJsonBody } from './http/body.ts'
import type { Cors } from './http/cors.ts'
import {
  answerError,
  beginRequest,
  createBareApp,
  type PipelineOptions,
  refuseMethod,
  refusePath,
} from './http/pipeline.ts'
import type { FailedCredentials } from './limits/failed-credentials.ts'
import { limitTokenRate, type TokenRateOptions } from './limits/token-rate.ts'
import { addCreatePlant } from './plants.ts'
import type { PlantStore } from './store/store.ts'

export interface AppParts extends PipelineOptions {
  readonly plants: PlantStore
  readonly authenticate: Authenticate
  readonly failedCredentials: FailedCredentials
  /** undefined where tokens have no rate limit. */
  readonly tokenRate: TokenRateOptions | undefined
  /** undefined where no other origin is allowed. */
  readonly cors: Cors | undefined
}

/**
 * The service as an Express app, in the order in which a request is checked:
 * framing, CORS preflight, credential, rate, path, method, media type, body, plant, store.
 */
export function createApp(parts: AppParts): Express {
  const app = createBareApp(parts)
  app.use(beginRequest)
  if (parts.cors !== undefined) app.use(parts.cors.answerPreflight)
  app.use(requireBearer(parts.authenticate, parts.failedCredentials))
  if (parts.tokenRate !== undefined) app.use(limitTokenRate(parts.tokenRate))
  addCreatePlant(app, parts.plants, readJsonBody(parts.bodyLimitBytes))
  app.all('/plants', refuseMethod('POST'))
  app.use(refusePath)
  app.use(answerError(parts))
  return app
}
