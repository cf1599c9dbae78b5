import type { IncomingMessage, Server } from 'node:http'
import { publicPathsOf } from '../docs/docs.ts'
import { createCors } from '../http/cors.ts'
import { createDeferReply } from '../http/deferred-replies.ts'
import { createListener, type ListenerLimits } from '../http/listener.ts'
import { isPublicTarget } from '../http/public-paths.ts'
import { admitRequests } from '../limits/admission.ts'
import { createCallerAddresses, type TrustedProxies } from '../limits/caller-address.ts'
import { limitFailedCredentials } from '../limits/failed-credentials.ts'
import { limitConnections, limitForwarded } from '../limits/per-address.ts'
import { createRefusals, type LimiterObserver } from '../limits/refusals.ts'
import { refuseStrangers } from '../limits/strangers.ts'
import { WaitingPlants } from '../limits/waiting-plants.ts'
import type { SpendRates } from '../store/store.ts'
import { type AppParts, createApp } from './app.ts'

/** What callers may use of the service; see docs/interface.md. */
export interface ServiceLimits extends ListenerLimits {
  readonly bodyLimitBytes: number
  /** Connections that may be open; one more is closed at once. */
  readonly connectionLimit: number
  /** Requests that may be in flight; one more is answered 503. */
  readonly requestLimit: number
  /** How long plants may wait, on average, before more are answered 503. */
  readonly waitLimitMs: number
  /** Whose X-Forwarded-For is believed. */
  readonly trustedProxies: TrustedProxies
  /** Credentials of one caller that may be wrong in a minute; undefined for any number. */
  readonly failedCredentialLimit: number | undefined
  /** Requests of one token in a second, in the long run; undefined for any number. */
  readonly rateLimit: number | undefined
  /** Of so many seconds a token may use its whole rate at once. */
  readonly rateWindowSeconds: number
  /** Origins whose pages may call the service. */
  readonly corsOrigins: readonly string[]
  /** Connections of one address, or requests that trusted proxies forward for it; undefined for any number. */
  readonly addressLimit: number | undefined
}

export interface ServiceParts
  extends Omit<AppParts, 'failedCredentials' | 'tokenRate' | 'cors' | 'deferReply'> {
  readonly limiterObserver?: LimiterObserver | undefined
  /** Where the rate of a token is counted for several servers together. */
  readonly spendRates: SpendRates | undefined
}

/** The service behind its limits: an HTTP server that does not listen yet. */
export function createService(parts: ServiceParts, limits: ServiceLimits): Server {
  const { rateLimit, corsOrigins } = limits
  const refusals = createRefusals(parts.log, parts.limiterObserver)
  const deferReply = createDeferReply(parts.log)
  const addresses = createCallerAddresses(limits.trustedProxies)
  const perAddress = { most: limits.addressLimit, addresses, refusals }
  const publicPaths = publicPathsOf(parts)
  const plants = new WaitingPlants(parts.plants, limits)
  const cors = corsOrigins.length === 0 ? undefined : createCors(corsOrigins, parts)
  const failed = limitFailedCredentials({
    perMinute: limits.failedCredentialLimit,
    callerOf: addresses.ofRequest,
    refusals,
  })
  const app = createApp({
    ...parts,
    deferReply,
    plants,
    cors,
    failedCredentials: failed,
    tokenRate:
      rateLimit === undefined
        ? undefined
        : {
            perSecond: rateLimit,
            windowSeconds: limits.rateWindowSeconds,
            refusals,
            spendRates: parts.spendRates,
            log: parts.log,
          },
  })
  const strangers = { ...parts, failed, publicPaths, cors, deferReply }
  const admission = {
    requestLimit: limits.requestLimit,
    isPublic: ({ url = '' }: IncomingMessage) => isPublicTarget(publicPaths, url),
    admitForwarded: limitForwarded(perAddress),
    bodyLimitBytes: parts.bodyLimitBytes,
    isOverloaded: () => plants.isOverloaded(),
    isDraining: parts.isDraining,
    observer: parts.observer,
    refusals,
    deferReply,
    mark: cors?.mark,
  }
  const server = createListener(app, limits, parts, {
    admit: (handle) => refuseStrangers(admitRequests(handle, admission), strangers),
    onSlow: (socket) => refusals.count('slow', addresses.ofConnection(socket)),
  })
  limitConnections(server, perAddress)
  server.maxConnections = limits.connectionLimit
  server.on('drop', () => refusals.count('connections'))
  return server
}
