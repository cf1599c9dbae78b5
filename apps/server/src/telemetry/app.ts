import { encodeJson } from '@plant-store/contract'
import type { Express, RequestHandler } from 'express'
import type { Config } from '../config/config.ts'
import { checkFraming } from '../http/framing.ts'
import { ALWAYS_WAITING, WAIT_LIMIT_MS } from '../http/overload.ts'
import {
  createBareApp,
  type PipelineOptions,
  refuseMethod,
  refusePath,
  respond,
  respondWithError,
} from '../http/pipeline.ts'
import { createPublicFiles, sendPublic } from '../http/public-files.ts'
import { RequestError, retryAfter } from '../http/request-error.ts'
import { build } from '../process/build.ts'
import { files } from '../process/files.ts'
import { within } from '../process/within.ts'
import type { Store, StoreUnavailableError } from '../store/store.ts'
import { isLoopback } from '../text/loopback.ts'
import type { Metrics } from './metrics.ts'
import type { Readiness } from './readiness.ts'

export interface OperationsParts
  extends PipelineOptions,
    Pick<Config, 'changedSettings' | 'connectionLimit'> {
  /** Whether only this machine reaches the listener. */
  readonly isLoopback: boolean
  readonly readiness: Pick<Readiness, 'assert'>
  readonly store: Pick<Store, 'description' | 'countPlants'>
  /** Undefined where nothing is measured; there is no `/metrics` then. */
  readonly metrics: Metrics | undefined
}

/** Without a cause for the log: it has a line when readiness changes, and probes never end. */
function notReady({ message, fix }: StoreUnavailableError): never {
  const more = fix === undefined ? '' : `. Try: ${fix}`
  throw new RequestError('unavailable', `nothing was stored, try again: ${message}${more}`, {
    headers: retryAfter(),
  })
}

/** A well-formed Host: an IPv6 address in brackets, or another host, and maybe a port. */
const HOST = /^(?:\[(.*)\]|([^:]*))(?::\d*)?$/

/**
 * Refuses requests whose Host is not this machine's, because a page whose name leads here (DNS
 * rebinding) could read the responses as its own. For a listener on loopback: another one is reached
 * by names that the server cannot know. HTTP/1.0 may leave Host out, which no browser does.
 */
const checkLoopbackHost: RequestHandler = ({ headers }, _response, next) => {
  if (headers.host !== undefined) {
    const [, ipv6, other = ''] = HOST.exec(headers.host) ?? []
    if (!isLoopback(ipv6 ?? other.toLowerCase())) {
      throw new RequestError('malformed_request', 'Host is not this machine: try localhost')
    }
  }
  next()
}

/** More plants are not counted. */
const MOST_COUNTED = 1_000_000

/** The rest must be shown while a database does not answer. */
const COUNT_WAIT_MS = 500

/** The page, whose browser reads the rest: the build puts its files into one folder. */
const page = createPublicFiles(new URL('overview/', files.built), {
  '/': 'index.html',
  '/overview.css': 'overview.css',
  '/overview.js': 'overview.js',
  '/icon.svg': 'icon.svg',
})

/** Counts plants for at most 1 % of the time, and gives the latest count; undefined before the first. */
function createCounter(store: OperationsParts['store']): () => Promise<number | undefined> {
  let plants: number | undefined
  let counting = Promise.resolve()
  let nextAt = 0
  async function count(begun: number): Promise<void> {
    nextAt = Number.POSITIVE_INFINITY
    plants = await store.countPlants(MOST_COUNTED).catch(() => plants)
    nextAt = begun + 100 * (performance.now() - begun)
  }
  return async () => {
    const now = performance.now()
    if (now >= nextAt) counting = count(now)
    await within(COUNT_WAIT_MS, counting, undefined)
    return plants
  }
}

function addMetricsAndPage(app: Express, metrics: Metrics, parts: OperationsParts): void {
  app.get('/metrics', async (_request, response) => {
    const { contentType } = metrics
    respond(response, await metrics.print(), parts, { contentType })
  })
  for (const path of page.paths) {
    app.get(path, async (_request, response) => {
      sendPublic(response, await page.read(path), parts)
    })
  }
  const count = createCounter(parts.store)
  app.get('/about.json', async (_request, response) => {
    const { store, changedSettings: settings, connectionLimit: connections } = parts
    const limits = { connections, waiting: ALWAYS_WAITING, waitMs: WAIT_LIMIT_MS }
    const about = { plants: await count(), store: store.description, settings, limits }
    respond(response, JSON.stringify({ ...build, ...about }), parts)
  })
  app.all([...page.paths, '/about.json', '/metrics'], refuseMethod('GET', 'HEAD'))
}

/** The app of the operations listener: `GET /livez`, `GET /readyz`, `GET /metrics` and the page. */
export function createOperationsApp(parts: OperationsParts): Express {
  const { metrics, readiness } = parts
  const app = createBareApp()
  app.use(checkFraming)
  if (parts.isLoopback) app.use(checkLoopbackHost)
  app.get('/livez', (_request, response) => {
    respond(response, encodeJson({ status: 'live' }), parts)
  })
  app.get('/readyz', async (_request, response) => {
    await readiness.assert().catch(notReady)
    respond(response, encodeJson({ status: 'ready' }), parts)
  })
  app.all(['/livez', '/readyz'], refuseMethod('GET', 'HEAD'))
  if (metrics !== undefined) {
    metrics.measureReadiness(readiness.assert)
    addMetricsAndPage(app, metrics, parts)
  }
  app.use(refusePath)
  app.use(respondWithError(parts))
  return app
}
