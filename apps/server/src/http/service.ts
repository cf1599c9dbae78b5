import type { Server } from 'node:http'
import { contract } from '@plant-store/contract'
import type { Express, RequestHandler } from 'express'
import type { Authenticate } from '../auth/bearer.ts'
import { createBearerChecks } from '../auth/bearer.ts'
import type { Config } from '../config/config.ts'
import type { Store } from '../store/store.ts'
import { readJsonBody } from './body.ts'
import { createCors } from './cors.ts'
import { addCreatePlant } from './create-plant.ts'
import { createDocs } from './docs/docs.ts'
import { checkFraming } from './framing.ts'
import { type Limit, limitInFlight, limitOverload, refuseEarly } from './limits/admission.ts'
import { createCallerAddresses } from './limits/caller-address.ts'
import { limitFailedCredentials } from './limits/failed-credentials.ts'
import { limitConnections, limitForwarded } from './limits/per-address.ts'
import { createRefusals, type LimiterObserver } from './limits/refusals.ts'
import { limitStrangers } from './limits/strangers.ts'
import { limitTokenRate } from './limits/token-rate.ts'
import { WaitingPlants } from './limits/waiting-plants.ts'
import { createListener } from './listener.ts'
import {
  createBareApp,
  type EarlyCheck,
  inOneLayer,
  type PipelineOptions,
  readTarget,
  refuseMethod,
  refusePath,
  replyError,
} from './pipeline.ts'

/** The settings, and what was opened by them. */
export interface ServiceOptions extends Config {
  readonly store: Pick<Store, 'plants'>
  readonly authenticate: Authenticate
  /** Is the first layer of the app. */
  readonly traceRequest?: RequestHandler | undefined
  readonly metrics?: { readonly limiters: LimiterObserver } | undefined
}

/** What several checks share, made once. */
function createParts(options: ServiceOptions, pipeline: PipelineOptions) {
  const { corsOrigins, failedCredentialLimit, rateLimit, publicUrl } = options
  const refusals = createRefusals(pipeline.log, options.metrics?.limiters)
  const addresses = createCallerAddresses(options.trustedProxies)
  return {
    options,
    pipeline,
    refusals,
    perAddress: { most: options.addressLimit, addresses },
    failed: limitFailedCredentials({
      perMinute: failedCredentialLimit,
      callerOf: addresses.ofRequest,
      refusals,
    }),
    tokenRate:
      rateLimit === undefined
        ? undefined
        : limitTokenRate({
            perSecond: rateLimit,
            refusals,
          }),
    plants: new WaitingPlants(options.store.plants, options.requestLimit),
    docs: options.docs ? createDocs(publicUrl, pipeline) : undefined,
    cors: corsOrigins.length > 0 ? createCors(corsOrigins, pipeline) : undefined,
  }
}

type Parts = ReturnType<typeof createParts>

function isThere<Value>(value: Value | undefined): value is Value {
  return value !== undefined
}

// Every request passes the checks of the next two functions, from its target to the store, in the
// order in which they are written. See "The order of checks" in docs/interface.md.

/** The checks before Express, where a refusal costs little. */
function checksBeforeApp(parts: Parts): EarlyCheck[] {
  const { options, failed, plants, cors, docs } = parts
  const isPublic = docs?.isPublic ?? (() => false)
  const refuse = (limit: Limit) => refuseEarly(limit, parts)
  return [
    cors?.mark,
    readTarget(parts.pipeline),
    refuse(limitStrangers({ ...options, failed, isPublic, cors })),
    refuse(limitOverload(() => plants.isOverloaded())),
    refuse(limitForwarded(parts.perAddress)),
    refuse(limitInFlight(options.requestLimit, isPublic)),
  ].filter(isThere)
}

/** The checks in Express; the public paths end at `docs.reply`, and a plant ends in the store. */
function createApp(parts: Parts): Express {
  const { options, pipeline, failed, tokenRate, plants, cors, docs } = parts
  const app = createBareApp()
  const bearer = createBearerChecks(options.authenticate, failed)
  const { path, method } = contract.createPlant
  const layers = [
    options.traceRequest,
    checkFraming,
    cors?.replyPreflight,
    docs?.reply,
    bearer.require,
    tokenRate,
  ]
  app.use(inOneLayer(layers.filter(isThere)))
  // Path and method, media type and body, the credential again, the plant, the store.
  addCreatePlant(
    app,
    pipeline,
    plants,
    inOneLayer([readJsonBody(options.bodyLimitBytes), bearer.requireStill]),
  )
  app.all(path, refuseMethod(method))
  app.use(refusePath)
  app.use(replyError(pipeline))
  return app
}

/** The service behind its limits: an HTTP server that does not listen yet. */
export function createService(options: ServiceOptions, pipeline: PipelineOptions): Server {
  const parts = createParts(options, pipeline)
  const { refusals, perAddress } = parts
  const server = createListener(createApp(parts), options, pipeline, {
    checks: checksBeforeApp(parts),
    onSlow: (socket) => refusals.count('slow', perAddress.addresses.ofConnection(socket)),
  })
  limitConnections(server, { ...options, ...perAddress, refusals })
  return server
}
