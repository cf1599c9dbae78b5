import type { Express, RequestHandler } from 'express'
import type { Authenticate } from '../auth/authenticate.ts'
import { createBearerChecks } from '../auth/bearer.ts'
import { addDocs, type DocsParts, publicPathsOf } from '../docs/docs.ts'
import { readJsonBody } from '../http/body.ts'
import type { Cors } from '../http/cors.ts'
import {
  beginRequest,
  createBareApp,
  type PipelineOptions,
  refuseMethod,
  refusePath,
  replyError,
} from '../http/pipeline.ts'
import { exceptAt } from '../http/public-paths.ts'
import type { FailedCredentials } from '../limits/failed-credentials.ts'
import { limitTokenRate, type TokenRateOptions } from '../limits/token-rate.ts'
import type { PlantStore } from '../store/store.ts'
import { addCreatePlant } from './create-plant.ts'

export interface AppParts extends PipelineOptions, DocsParts {
  readonly plants: PlantStore
  readonly authenticate: Authenticate
  /** Sees each request before anything else does. */
  readonly traceRequest?: RequestHandler | undefined
  readonly failedCredentials: FailedCredentials
  /** undefined where tokens have no rate limit. */
  readonly tokenRate: TokenRateOptions | undefined
  /** undefined where no other origin is allowed. */
  readonly cors: Cors | undefined
}

/**
 * The service as an Express app, in the order in which a request is checked:
 * framing, CORS preflight, credential, rate, path, method, media type, body, credential again where
 * the body was long on its way, plant, store.
 */
export function createApp(parts: AppParts): Express {
  const app = createBareApp(parts)
  if (parts.traceRequest !== undefined) app.use(parts.traceRequest)
  app.use(beginRequest)
  if (parts.cors !== undefined) app.use(parts.cors.replyPreflight)
  const publicPaths = publicPathsOf(parts)
  const bearer = createBearerChecks(parts.authenticate, parts.failedCredentials)
  app.use(exceptAt(publicPaths, bearer.require))
  if (parts.tokenRate !== undefined) {
    app.use(exceptAt(publicPaths, limitTokenRate(parts.tokenRate)))
  }
  addCreatePlant(app, parts.plants, [readJsonBody(parts.bodyLimitBytes), bearer.requireStill])
  app.all('/plants', refuseMethod('POST'))
  addDocs(app, parts)
  app.use(refusePath)
  app.use(replyError(parts))
  return app
}
