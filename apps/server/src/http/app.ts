import { contract } from '@plant-store/contract'
import type { Express, Request, RequestHandler } from 'express'
import { type Authenticate, createBearerChecks } from '../auth/bearer.ts'
import type { Config } from '../config/config.ts'
import type { PlantStore } from '../store/store.ts'
import {
  createRefusals,
  type Limit,
  type LimiterObserver,
  type Refusals,
  refuseEarly,
} from './admission.ts'
import { readJsonBody } from './body.ts'
import { type CallerAddresses, createCallerAddresses } from './caller.ts'
import { createCors } from './cors.ts'
import { addCreatePlant } from './create-plant.ts'
import { createDocs } from './docs.ts'
import { limitFailures } from './failed-credentials.ts'
import { checkFraming } from './framing.ts'
import type { Served } from './node-server.ts'
import { limitInFlight, limitOverload, WaitingPlants } from './overload.ts'
import { limitForwarded } from './per-address.ts'
import {
  createBareApp,
  inOneLayer,
  type PipelineOptions,
  readTarget,
  refuseMethod,
  refusePath,
  respondWithError,
} from './pipeline.ts'
import { limitTokenRate } from './token-rate.ts'

export interface AppParts {
  readonly pipeline: PipelineOptions
  readonly authenticate: Authenticate
  readonly metrics?: { readonly limiters: LimiterObserver } | undefined
  /** Its handler is the first layer of the app. */
  readonly tracing?: { readonly traceRequest: RequestHandler } | undefined
}

/** The service, and what its limits count by. */
export interface App extends Served {
  readonly refusals: Refusals
  readonly addresses: CallerAddresses
}

function present<Value>(...values: (Value | undefined)[]): Value[] {
  return values.filter((value) => value !== undefined)
}

/** What several checks share, made once. */
function createShared(config: Config, store: PlantStore, { pipeline, metrics }: AppParts) {
  const { corsOrigins } = config
  const refusals = createRefusals(pipeline.log, metrics?.limiters)
  const addresses = createCallerAddresses(config.trustedProxies)
  return {
    refusals,
    addresses,
    failures: limitFailures(config.failedCredentialLimit, addresses.ofRequest, refusals),
    plants: new WaitingPlants(store, config.requestLimit),
    docs: config.docs ? createDocs(config.publicUrl, pipeline) : undefined,
    cors: corsOrigins.length > 0 ? createCors(corsOrigins, pipeline) : undefined,
  }
}

type Shared = ReturnType<typeof createShared>

// Every request passes the checks of the next two functions, from its target to the store, in the
// order in which they are written. See "The order of checks" in docs/interface.md.

/** The checks before Express, where a refusal costs little. */
function checksBeforeExpress(config: Config, { pipeline, authenticate }: AppParts, shared: Shared) {
  const { failures, plants, refusals, addresses, docs, cors } = shared
  const refuse = (limit: Limit) => refuseEarly(limit, pipeline, refusals)
  const isPublic = docs?.isPublic ?? (() => false)
  const isForEverybody = (request: Request) =>
    isPublic(request) || cors?.isPreflight(request) === true
  return present(
    cors?.mark,
    readTarget(pipeline),
    refuse(failures.limitBlocked(authenticate, isForEverybody)),
    refuse(limitOverload(plants)),
    refuse(limitForwarded(config.addressLimit, addresses)),
    refuse(limitInFlight(config.requestLimit, isPublic)),
  )
}

/** The checks in Express; the public paths end at `docs.respond`, and a plant ends in the store. */
function createExpress(config: Config, parts: AppParts, shared: Shared): Express {
  const { pipeline, authenticate, tracing } = parts
  const { failures, plants, refusals, docs, cors } = shared
  const { rateLimit, bodyLimitBytes } = config
  const { path, method } = contract.createPlant
  const bearer = createBearerChecks(authenticate, failures)
  const layers = present(
    tracing?.traceRequest,
    checkFraming,
    cors?.respondToPreflight,
    docs?.respond,
    bearer.require,
    rateLimit === undefined ? undefined : limitTokenRate(rateLimit, refusals),
  )
  const app = createBareApp()
  app.use(inOneLayer(layers))
  // Path and method, media type and body, the credential again, the plant, the store.
  const before = inOneLayer([readJsonBody(bodyLimitBytes), bearer.requireStill])
  addCreatePlant(app, pipeline, plants, before)
  app.all(path, refuseMethod(method))
  app.use(refusePath)
  app.use(respondWithError(pipeline))
  return app
}

/** The service behind its limits. */
export function createApp(config: Config, store: PlantStore, parts: AppParts): App {
  const shared = createShared(config, store, parts)
  const { refusals, addresses } = shared
  return {
    refusals,
    addresses,
    app: createExpress(config, parts, shared),
    checks: checksBeforeExpress(config, parts, shared),
    onSlow: (socket) => refusals.count('slow', addresses.ofConnection(socket)),
  }
}
