import { errorTable } from '@plant-store/contract'
import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client'
import type { JwksObserver } from '../auth/key-ring.ts'
import type { TokenCacheObserver } from '../auth/token-cache.ts'
import { type LimiterObserver, refusalReasons } from '../http/admission.ts'
import type { RequestObserver, RequestOutcome } from '../http/locals.ts'
import { build } from '../process/build.ts'
import { within } from '../process/within.ts'
import type { StoreObserver } from '../store/observer.ts'
import type { Store } from '../store/store.ts'
import { addStoreMeasures, createStoreObserver } from './store-metrics.ts'
import { addGauge, createTally, Distribution, DURATION_BUCKETS, Tallies } from './tallies.ts'

/** Is notified of the tokens of the store whenever they were read. */
export interface TokenObserver {
  /** When the first token without a successor ends, in Unix ms; undefined where none ends. */
  nextEndIs(time: number | undefined): void
}

/**
 * The metrics of a server: an observer for each part of it, and the text of all metrics.
 * A create costs three calls of observers and its share of two more, together 0.1 µs.
 */
export interface Metrics {
  readonly requests: RequestObserver
  readonly store: StoreObserver
  readonly tokenCache: TokenCacheObserver
  readonly tokens: TokenObserver
  readonly limiters: LimiterObserver
  readonly jwks: JwksObserver
  /** From now on each scrape reads the measures of the store. */
  measureStore(store: Pick<Store, 'measure'>): void
  /** From now on each scrape calls this, which rejects while the server is not ready. */
  measureReadiness(assertReady: () => Promise<void>): void
  /** From now on each scrape counts the open connections of the service. */
  measureConnections(count: () => number): void
  /** The Content-Type of `print`. */
  readonly contentType: string
  /** All metrics in Prometheus's text format. */
  print(): Promise<string>
}

/** Longer than a scrape should take; a store that has not answered by then is not ready. */
const READINESS_LIMIT_MS = 3_000

const OUTCOMES = [
  'created',
  'already_there',
  ...(Object.keys(errorTable) as (keyof typeof errorTable)[]),
] as const satisfies readonly RequestOutcome[]

const STATUSES = new Set([200, ...Object.values(errorTable).map(({ status }) => status)])

/** Counts responses by outcome, and measures how long they took by status. */
function createRequestObserver(registers: Registry[]): RequestObserver {
  const count = createTally('outcome', OUTCOMES, {
    name: 'plant_store_creates_total',
    help: 'Responses to requests to create a plant, by outcome: created, already_there, or the name of the error.',
    registers,
  })
  const durations = new Map(
    [...STATUSES].map((status) => [
      status,
      new Distribution(DURATION_BUCKETS, { status: String(status) }),
    ]),
  )
  // The others are shown once there was one: a server may never have most of them.
  const isShown = (status: number, { count }: Distribution) => status === 200 || count > 0
  new Tallies(
    {
      name: 'plant_store_request_duration_seconds',
      help: 'From the end of the headers of a request to the moment when its response is written to the connection.',
      registers,
    },
    () => [...durations].filter((entry) => isShown(...entry)).map(([, one]) => one),
  )
  return {
    answered(outcome, status, durationMs) {
      count(outcome)
      if (durationMs !== undefined) durations.get(status)?.observe(durationMs / 1_000)
    },
  }
}

/** Counts look-ups of opaque tokens, by whether the server remembered the token. */
function createTokenCacheObserver(registers: Registry[]): TokenCacheObserver {
  const count = createTally('result', ['hit', 'miss'], {
    name: 'plant_store_token_cache_lookups_total',
    help: 'Look-ups of well-formed tokens: hit where the server remembered the token, miss where it asked the store.',
    registers,
  })
  let tokens = 0
  const name = 'plant_store_token_cache_tokens'
  addGauge(registers, name, 'Tokens that the server remembers.', () => tokens)
  return {
    hit: () => count('hit'),
    missed(remembered) {
      count('miss')
      tokens = remembered
    },
  }
}

/** Shows when callers will be refused unless a token is replaced. */
function createTokenObserver(registers: Registry[]): TokenObserver {
  let nextEnd: number | undefined
  const name = 'plant_store_next_token_end_timestamp_seconds'
  const help =
    'When the first usable token without a successor ends, in Unix time; absent where none ends. Read from the store once an hour.'
  addGauge(registers, name, help, () => nextEnd && nextEnd / 1_000)
  return {
    nextEndIs(time) {
      nextEnd = time
    },
  }
}

/** Counts and dates fetches of an issuer's keys. */
function createJwksObserver(registers: Registry[]): JwksObserver {
  const count = createTally('result', ['ok', 'failed'], {
    name: 'plant_store_jwks_fetches_total',
    help: "Fetches of the token issuer's keys, by how they ended: ok or failed.",
    registers,
  })
  let fetchedAt = 0
  const name = 'plant_store_jwks_last_fetch_timestamp_seconds'
  const help = "When the token issuer's keys were last fetched, in Unix time; 0 for never."
  addGauge(registers, name, help, () => fetchedAt)
  return {
    fetched(isGood) {
      count(isGood ? 'ok' : 'failed')
      if (isGood) fetchedAt = Date.now() / 1_000
    },
  }
}

/** Starts to measure the server and its process; each server has a registry of its own. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'plant_store_build_info',
    help: '1, with the versions of the server and of Node.js as labels.',
    labelNames: ['version', 'node'],
    registers,
  }).set(build, 1)
  return {
    requests: createRequestObserver(registers),
    store: createStoreObserver(registers),
    tokenCache: createTokenCacheObserver(registers),
    tokens: createTokenObserver(registers),
    limiters: {
      acted: createTally('limiter', refusalReasons, {
        name: 'plant_store_limiter_actions_total',
        help: 'Requests or connections that a limit refused, by the limit.',
        registers,
      }),
    },
    jwks: createJwksObserver(registers),
    measureStore: (store) => addStoreMeasures(registers, store),
    measureReadiness(assertReady) {
      const ready = () =>
        assertReady().then(
          () => 1,
          () => 0,
        )
      addGauge(registers, 'plant_store_ready', '1 while /readyz would answer 200, else 0.', () =>
        within(READINESS_LIMIT_MS, ready(), 0),
      )
    },
    measureConnections: (count) =>
      addGauge(registers, 'plant_store_connections', 'Open connections of the service.', count),
    contentType: registry.contentType,
    print: () => registry.metrics(),
  }
}
