import type { Deadline } from './deadline.ts'
import { PlantStoreConfigError } from './errors/config-error.ts'

/** What a token function gets. */
export interface TokenContext {
  /** True where the server has refused the token that was given last. */
  readonly refresh: boolean
  /** Aborted when no call waits for the token any more. */
  readonly signal: AbortSignal
}

/** Gives the token of a call; asked again with `refresh` when the server refuses it. */
export type TokenFunction = (context: TokenContext) => string | Promise<string>

/** A token, and how many refreshes came before it. */
export interface IssuedToken {
  readonly token: string
  readonly refreshes: number
}

/** Where the calls of a client get their token. */
export interface TokenSource {
  /** Whether another token can be had once one is refused. */
  readonly canRefresh: boolean
  get(deadline: Deadline): Promise<IssuedToken>
  /** Reports a token that the server refused, so that the next one is fresh. */
  refuse(issued: IssuedToken): void
}

/** What RFC 9110 §5.5 lets a header hold, less the space: fetch would quote anything else in its error. */
const TOKEN = /^[\x21-\x7e]+$/

function isToken(token: unknown): token is string {
  return typeof token === 'string' && TOKEN.test(token.trim())
}

/**
 * The token without white space around it.
 * @throws PlantStoreConfigError, without the value, for what cannot be one.
 */
export function parseToken(token: unknown): string {
  if (isToken(token)) return token.trim()
  throw new PlantStoreConfigError(
    'invalid_token',
    'token',
    'must be printable ASCII without spaces',
  )
}

/** All that is passed on of a foreign error: its message may hold a secret that is unknown here. */
function kindOf(thrown: unknown): string {
  return thrown instanceof Error && /^\w+$/.test(thrown.name) ? thrown.name : 'no Error'
}

/** What a token function gave, which need not be a token, or the kind of what it threw. */
type Provided = { readonly given: unknown } | { readonly threw: string }

async function askFor(provide: TokenFunction, context: TokenContext): Promise<Provided> {
  try {
    return { given: await provide(context) }
  } catch (thrown) {
    return { threw: kindOf(thrown) }
  }
}

/** @throws PlantStoreConfigError, a new one for each call, which writes its own facts into it. */
function toToken(provided: Provided): string {
  if ('given' in provided) return parseToken(provided.given)
  const rule = `could not be had: its function threw ${provided.threw}`
  throw new PlantStoreConfigError('token_provider_failed', 'token', rule)
}

/** One call of the token function, for every call that waits for it. */
interface Flight {
  readonly refresh: boolean
  readonly controller: AbortController
  readonly landed: Promise<{ readonly provided: Provided; readonly refreshes: number }>
  waiting: number
  isOver: boolean
}

function createFlights(provide: TokenFunction): TokenSource {
  let flight: Flight | undefined
  let refreshes = 0
  let isRefused = false

  function depart(refresh: boolean): Flight {
    const controller = new AbortController()
    const land = async () => {
      try {
        const provided = await askFor(provide, { refresh, signal: controller.signal })
        if (refresh && 'given' in provided && isToken(provided.given)) {
          refreshes++
          isRefused = false
        }
        return { provided, refreshes }
      } finally {
        departed.isOver = true
        if (flight === departed) flight = undefined
      }
    }
    // A turn later, so that a function which throws at once finds the flight in its place.
    const landed = Promise.resolve().then(land)
    const departed: Flight = { refresh, controller, landed, waiting: 0, isOver: false }
    return departed
  }

  return {
    canRefresh: true,
    async get(deadline) {
      if (flight === undefined || (isRefused && !flight.refresh)) flight = depart(isRefused)
      const boarded = flight
      boarded.waiting++
      try {
        const landed = await deadline.race(boarded.landed)
        return { token: toToken(landed.provided), refreshes: landed.refreshes }
      } finally {
        if (--boarded.waiting === 0 && !boarded.isOver) {
          boarded.controller.abort()
          if (flight === boarded) flight = undefined
        }
      }
    },
    refuse(issued) {
      // Where another call has had the token refreshed meanwhile, that one will do.
      if (issued.refreshes === refreshes) isRefused = true
    },
  }
}

/** The tokens of a client. Only the call that asked keeps a function's token. */
export function createTokenSource(token: string | TokenFunction): TokenSource {
  if (typeof token === 'function') return createFlights(token)
  const issued = { token, refreshes: 0 }
  return { canRefresh: false, get: async () => issued, refuse() {} }
}
