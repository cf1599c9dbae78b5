import { AUTHORIZATION_SCHEME, contract, headerNames, isRequestId } from '@plant-store/contract'
import { nextApplied, type ResponseHead } from './applied.ts'
import { type AttemptContext, attempt, type Operation, toEndingError } from './attempt.ts'
import { Deadline } from './deadline.ts'
import {
  type Applied,
  completeError,
  isPlantStoreError,
  optionError,
  type PlantStoreError,
} from './errors.ts'
import { type EventFacts, notify } from './events.ts'
import { toConnectionError } from './failure.ts'
import { copyHeaders } from './fetch.ts'
import type { CreatePlantOptions } from './options.ts'
import type { Outcome } from './response.ts'
import { decideRetry } from './retry.ts'
import type { Runtime } from './runtime.ts'
import { createScrub } from './scrubber.ts'
import { type Settings, toCallSettings } from './settings.ts'
import type { IssuedToken } from './token.ts'

/** How a call went. */
export interface PlantStoreMeta {
  /** The status of the last response; undefined where there was none. */
  readonly status?: number
  /** The id under which the server's log has the call; undefined where nothing was sent. */
  readonly requestId?: string
  /** Requests sent. */
  readonly attempts: number
  /** The whole call, waits included, in milliseconds. */
  readonly durationMs: number
  /**
   * The headers of the last response; undefined where there was none. Those of a failure lack what
   * quotes the token.
   */
  readonly headers?: Headers
}

/** What a call came to. */
export interface CallResult extends Outcome {
  readonly meta: PlantStoreMeta
}

/** Under this symbol a bulk says which failures a call gives back at once, and does not retry itself. */
export const GIVES_BACK: unique symbol = Symbol('gives back')

/** The options of a call, and what a bulk adds to them; options that are spread keep it. */
export interface CallOptions extends CreatePlantOptions {
  readonly [GIVES_BACK]?: (error: PlantStoreError) => boolean
}

/** Every header that the contract has for a request; one more does not compile here before it is sent. */
type HeaderName = keyof (typeof contract)['createPlant']['headers']

/** One call: its attempts, the waits between them, and what is known of the plant. */
class Call {
  readonly #context: AttemptContext
  readonly #givesBack: ((error: PlantStoreError) => boolean) | undefined
  readonly #secrets: Set<string>
  readonly #startedAt: number
  #token: IssuedToken | undefined
  #hasRefreshed = false
  #attempts = 0
  /** Requests that fetch sent besides the one that it was asked to, as far as they were seen. */
  #resent = 0
  #retries = 0
  #applied: Applied = 'no'
  #head: ResponseHead | undefined

  constructor(context: AttemptContext, secrets: Set<string>, { [GIVES_BACK]: gives }: CallOptions) {
    this.#context = context
    this.#secrets = secrets
    this.#givesBack = gives
    this.#startedAt = context.runtime.now()
  }

  async run(): Promise<CallResult> {
    try {
      for (;;) {
        await this.#getToken()
        const outcome = await this.#attempt()
        const { error } = outcome
        if (error === undefined || !(await this.#prepareRetry(error))) return this.#end(outcome)
      }
    } catch (thrown) {
      return this.#end({ head: this.#head, error: this.#errorOf(thrown) })
    } finally {
      this.#context.deadline.close()
    }
  }

  async #getToken(): Promise<void> {
    const { deadline, settings } = this.#context
    deadline.signal.throwIfAborted()
    if (this.#token !== undefined) return
    this.#token = await settings.tokens.get(deadline)
    this.#secrets.add(this.#token.token)
  }

  /** The error for what ended the call outside of an attempt. */
  #errorOf(thrown: unknown): PlantStoreError {
    const { deadline, operation, scrub } = this.#context
    // Between attempts nothing is sent, so nothing becomes doubtful there.
    if (deadline.ending) return toEndingError(deadline.ending, this.#context, 'no')
    if (isPlantStoreError(thrown)) return thrown
    // Nobody has foreseen this: of what was sent it is only known that it was sent.
    if (this.#attempts > 0 && this.#applied === 'no') this.#applied = 'maybe'
    return toConnectionError(thrown, operation.url, scrub, false, this.#applied)
  }

  async #attempt(): Promise<Outcome> {
    const { deadline, runtime, settings } = this.#context
    if (typeof (settings.fetch ?? globalThis.fetch) !== 'function') {
      throw optionError('invalid_option', 'fetch', 'is missing, and the runtime has none')
    }
    this.#emit({ type: 'request' }, this.#attempts + 1)
    // The listener may have aborted the call just now.
    deadline.signal.throwIfAborted()
    const startedAt = runtime.now()
    const headers = {
      ...settings.headers,
      [headerNames.authorization]: `${AUTHORIZATION_SCHEME} ${this.#token?.token}`,
      [headerNames.contentType]: contract.createPlant.contentType,
      [headerNames.requestId]: this.#context.requestId,
      [headerNames.retryCount]: String(this.#attempts++),
    } satisfies Readonly<Record<HeaderName, string>>
    const { resent, ...outcome } = await attempt(this.#context, headers)
    const { head, error } = outcome
    this.#head = head
    this.#resent += resent
    if (error !== undefined) this.#applied = nextApplied(this.#applied, error)
    if (head !== undefined) {
      this.#emit({ type: 'response', status: head.status, durationMs: runtime.now() - startedAt })
    }
    return outcome
  }

  /** Waits until it is time to send again; false where that is not to be. */
  async #prepareRetry(error: PlantStoreError): Promise<boolean> {
    const { deadline, runtime, settings } = this.#context
    const { code, message, retryable, retryAfterMs } = error
    if (this.#refreshesToken()) {
      this.#emit({ type: 'retry', code, message, delayMs: 0 })
      return true
    }
    const delayMs = decideRetry({
      retryable: retryable && !this.#givesBack?.(error),
      retries: this.#retries++,
      maxRetries: settings.maxRetries,
      retryAfterMs,
      maxRetryAfterMs: settings.maxRetryAfterMs,
      remainingMs: deadline.remainingMs,
      random: runtime.random(),
    })
    if (delayMs === undefined) return false
    this.#emit({ type: 'retry', code, message, delayMs })
    await deadline.sleep(delayMs)
    return true
  }

  /**
   * Drops a token that the server did not take; true where another is worth a request. That is not
   * counted as a retry, but a call without retries is exactly one request.
   */
  #refreshesToken(): boolean {
    const { tokens, maxRetries } = this.#context.settings
    if (this.#head?.status !== 401 || this.#token === undefined) return false
    tokens.refuse(this.#token)
    this.#token = undefined
    const isFirst = !this.#hasRefreshed
    this.#hasRefreshed = true
    return isFirst && tokens.canRefresh && maxRetries > 0
  }

  #end(outcome: Outcome): CallResult {
    const { head, error } = outcome
    const attempts = this.#attempts + this.#resent
    const sent = attempts > 0 && { requestId: this.#requestId() }
    const { operation, runtime, scrub } = this.#context
    const durationMs = runtime.now() - this.#startedAt
    const meta = { ...head, ...sent, attempts, durationMs }
    if (error === undefined) return { ...outcome, meta }
    // A failure is often logged whole, and a response may quote the request.
    const isSound = (line: string) => scrub(line) === line
    if (head !== undefined) meta.headers = copyHeaders(head.headers, isSound)
    const applied = operation.expected === undefined ? 'no' : this.#applied
    const { code, message } = completeError(error, { applied, attempts, ...sent })
    this.#emit({ type: 'failure', code, message, applied, durationMs })
    return { ...outcome, meta }
  }

  /** The id that the response names, which is another where a proxy gives its own. */
  #requestId(): string {
    const { requestId, scrub } = this.#context
    const named = this.#head?.headers.get(headerNames.requestId) ?? ''
    return isRequestId(named) && scrub(named) === named ? named : requestId
  }

  #emit(facts: EventFacts, attempt = this.#attempts): void {
    const { requestId, settings } = this.#context
    notify(settings.onEvent, { ...facts, requestId, attempt })
  }
}

/** Makes a call. Never rejects: what went wrong is in the result. */
export function runCall(
  clientSettings: Settings,
  options: CallOptions,
  runtime: Runtime,
  operation: Operation,
): Promise<CallResult> {
  const settings = toCallSettings(clientSettings, options)
  const { signal, requestId = runtime.newRequestId() } = options
  const ms = settings.totalTimeoutMs
  const deadline = new Deadline(runtime, ms, 'total_timeout', signal)
  const secrets = new Set<string>()
  const scrub = createScrub(secrets)
  const context = { settings, operation, signal, deadline, requestId, scrub, runtime }
  return new Call(context, secrets, options).run()
}
