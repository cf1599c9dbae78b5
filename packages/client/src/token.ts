import type { Deadline } from './deadline.ts'
import { optionError } from './errors.ts'

/** Gives the token of a call; asked again with `refresh` when the server refuses it. */
export type TokenFunction = (context: {
  /** True where the server has refused the token that was given last. */
  readonly refresh: boolean
  /** Aborted when no call waits for the token any more. */
  readonly signal: AbortSignal
}) => string | Promise<string>

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
function isToken(token: unknown): token is string {
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token.trim())
}

/** What a token function gave, which need not be a token, or the kind of what it threw. */
type Provided = { readonly given: unknown } | { readonly threw: string }

/** @throws PlantStoreError, a new one for each call, which writes its own facts into it. */
function toToken(provided: Provided): string {
  if ('threw' in provided) {
    const rule = `could not be had: its function threw ${provided.threw}`
    throw optionError('token_provider_failed', 'token', rule)
  }
  if (isToken(provided.given)) return provided.given.trim()
  throw optionError('invalid_token', 'token', 'must be printable ASCII without spaces')
}

/** One question to the token function, for every call that waits for its answer. */
interface Question {
  readonly refresh: boolean
  readonly controller: AbortController
  readonly answer: Promise<Provided>
  waiting: number
}

/** The tokens that a function gives. Only the call that asked keeps one. */
function askedTokens(provide: TokenFunction): TokenSource {
  let question: Question | undefined
  let refreshes = 0
  let isRefused = false

  function ask(refresh: boolean): Question {
    const controller = new AbortController()
    // A turn later, so that a function which throws at once finds the question in its place.
    const answer = Promise.resolve()
      .then(() => provide({ refresh, signal: controller.signal }))
      .then(
        (given): Provided => {
          if (refresh && isToken(given)) {
            refreshes++
            isRefused = false
          }
          return { given }
        },
        // All that is passed on of a foreign error: its message may hold a secret that is unknown here.
        (thrown): Provided => {
          const isNamed = thrown instanceof Error && /^\w+$/.test(thrown.name)
          return { threw: isNamed ? thrown.name : 'no Error' }
        },
      )
      .finally(() => {
        if (question === asked) question = undefined
      })
    const asked = { refresh, controller, answer, waiting: 0 }
    return asked
  }

  return {
    canRefresh: true,
    async get(deadline) {
      if (question === undefined || (isRefused && !question.refresh)) question = ask(isRefused)
      const asked = question
      asked.waiting++
      try {
        return { token: toToken(await deadline.race(asked.answer)), refreshes }
      } finally {
        if (--asked.waiting === 0 && question === asked) {
          question = undefined
          asked.controller.abort()
        }
      }
    },
    refuse(issued) {
      // Where another call has had the token refreshed meanwhile, that one will do.
      if (issued.refreshes === refreshes) isRefused = true
    },
  }
}

/**
 * The tokens of a client.
 * @throws PlantStoreError, without the value, for what cannot be a token.
 */
export function createTokenSource(token: unknown): TokenSource {
  if (typeof token === 'function') return askedTokens(token as TokenFunction)
  if (token === undefined || token === '') {
    throw optionError('missing_token', 'token', 'is missing: give it, or set PLANT_STORE_TOKEN')
  }
  const issued = { token: toToken({ given: token }), refreshes: 0 }
  return { canRefresh: false, get: async () => issued, refuse() {} }
}
