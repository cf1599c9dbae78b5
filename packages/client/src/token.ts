import type { Deadline } from './deadline.ts'
import { optionError, type PlantStoreError } from './errors.ts'

/** Gives the token of a call; asked again with `refresh` when the server refuses it. */
export type TokenFunction = (context: {
  /** True where the server has refused the token that was given last. */
  readonly refresh: boolean
  /** Aborted when no call waits for the token any more. */
  readonly signal: AbortSignal
}) => string | Promise<string>

/** What RFC 9110 §5.5 lets a header hold, less the space: fetch would quote anything else in its error. */
function toToken(given: unknown): string {
  const token = typeof given === 'string' ? given.trim() : ''
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw optionError('token', 'must be printable ASCII without spaces', 'invalid_token')
}

/** All that is passed on of a foreign error: its message may hold a secret that is unknown here. */
function providerError(thrown: unknown): PlantStoreError {
  const isNamed = thrown instanceof Error && /^\w+$/.test(thrown.name)
  const what = isNamed ? thrown.name : 'no Error'
  const rule = `could not be had: its function threw ${what}`
  return optionError('token', rule, 'token_provider_failed')
}

/** One question to the token function, for every call that waits for its answer. */
interface Question {
  readonly refresh: boolean
  readonly controller: AbortController
  /** Gives the token, or throws an error of its own for each call, which writes its facts into it. */
  readonly answer: Promise<() => string>
  /** How many refreshes there are once it is answered. */
  readonly refreshes: number
  waiting: number
}

/** Where the calls of a client get their token. */
export class TokenSource {
  readonly #token: string | TokenFunction
  #question: Question | undefined
  #refreshes = 0
  #isRefused = false

  /** @throws PlantStoreError, without the value, for what cannot be a token. */
  constructor(token: unknown) {
    if (token === undefined || token === '') {
      const rule = 'is missing: give it, or set PLANT_STORE_TOKEN'
      throw optionError('token', rule, 'missing_token')
    }
    this.#token = typeof token === 'function' ? (token as TokenFunction) : toToken(token)
  }

  /** Whether another token can be had once one is refused. */
  get canRefresh(): boolean {
    return typeof this.#token === 'function'
  }

  /** A token, and how many refreshes came before it. @throws PlantStoreError where there is none */
  async get(deadline: Deadline): Promise<{ token: string; refreshes: number }> {
    if (typeof this.#token === 'string') return { token: this.#token, refreshes: 0 }
    const isLate = this.#isRefused && !this.#question?.refresh
    const asked = (!isLate && this.#question) || this.#ask(this.#token)
    this.#question = asked
    asked.waiting++
    try {
      const answer = await deadline.race(asked.answer)
      const token = answer()
      if (asked.refreshes > this.#refreshes) {
        this.#refreshes = asked.refreshes
        this.#isRefused = false
      }
      return { token, refreshes: this.#refreshes }
    } finally {
      if (--asked.waiting === 0 && this.#question === asked) {
        this.#question = undefined
        asked.controller.abort()
      }
    }
  }

  #ask(provide: TokenFunction): Question {
    const refresh = this.#isRefused
    const controller = new AbortController()
    // A turn later, so that a function which throws at once finds the question in its place.
    const answer = Promise.resolve()
      .then(() => provide({ refresh, signal: controller.signal }))
      .then(
        (given) => () => toToken(given),
        (thrown: unknown) => () => {
          throw providerError(thrown)
        },
      )
      .finally(() => {
        if (this.#question === asked) this.#question = undefined
      })
    const refreshes = this.#refreshes + Number(refresh)
    const asked = { refresh, controller, answer, refreshes, waiting: 0 }
    return asked
  }

  /** Reports a token that the server refused, so that the next one is fresh. */
  refuse({ refreshes }: { readonly refreshes: number }): void {
    // Where another call has had the token refreshed meanwhile, that one will do.
    if (refreshes === this.#refreshes) this.#isRefused = true
  }
}
