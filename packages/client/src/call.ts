import { AUTHORIZATION_SCHEME, contract, headerNames, isRequestId } from '@plant-store/contract'
import { appliedByPart, nextApplied } from './applied.ts'
import { Deadline, sleep } from './deadline.ts'
import {
  type Applied,
  abortError,
  isPlantStoreError,
  optionError,
  type PlantStoreError,
} from './errors.ts'
import { type EventFacts, notify } from './events.ts'
import { connectionError, toConnectionError } from './failure.ts'
import { createRequestId } from './host.ts'
import { type CreatePlantOptions, type Settings, toCallSettings } from './options.ts'
import type { ResponseHead, Sent } from './plant-codec.ts'
import {
  type CallResult,
  copyHeaders,
  judgeResponse,
  type Outcome,
  type PlantStoreFetch,
  readBody,
} from './response.ts'
import { waitMs } from './retry.ts'
import { createScrub } from './scrubber.ts'
import { type Sends, watchSends } from './sends.ts'

/** Under this symbol a bulk says which failures a call gives back at once, and does not retry itself. */
export const GIVES_BACK: unique symbol = Symbol('gives back')

/** The options of a call, and what a bulk adds to them; options that are spread keep it. */
export interface CallOptions extends CreatePlantOptions {
  readonly [GIVES_BACK]?: (error: PlantStoreError) => boolean
}

/** A response repeats what was sent, where JSON may take six characters for one: `\u0041`. */
const MAX_GROWTH = 6
const MAX_ERROR_LENGTH = 65_536

/** What is known of an attempt while it goes on; a fetch that heeds no signal may outlive it. */
interface Attempt {
  readonly sends: Sends
  readonly deadline: Deadline
  readonly body: { text: string }
  head?: ResponseHead
}

/** One call: its attempts, the waits between them, and what is known of the plant. */
class Call {
  readonly #sent: Sent
  readonly #settings: Settings
  readonly #options: CallOptions
  readonly #deadline: Deadline
  readonly #startedAt = performance.now()
  #token: Awaited<ReturnType<Settings['tokens']['get']>> | undefined
  #refreshes = 0
  #attempts = 0
  /** Requests that fetch sent besides the one that it was asked to, as far as they were seen. */
  #resent = 0
  #retries = 0
  #applied: Applied = 'no'
  #head: ResponseHead | undefined

  constructor(sent: Sent, settings: Settings, options: CallOptions) {
    this.#sent = sent
    this.#settings = settings
    this.#options = options
    const { signal } = options
    this.#deadline = new Deadline(settings.totalTimeoutMs, 'total_timeout', { signal })
  }

  async run(): Promise<CallResult> {
    try {
      for (;;) {
        this.#deadline.signal.throwIfAborted()
        this.#token ??= await this.#settings.tokens.get(this.#deadline)
        this.#sent.secrets.add(this.#token.token)
        const outcome = await this.#attempt()
        const { error } = outcome
        if (error === undefined || !(await this.#prepareRetry(error))) return this.#end(outcome)
      }
    } catch (thrown) {
      // Between attempts nothing is sent, so nothing becomes doubtful there.
      const error = this.#errorOf(thrown, this.#deadline, 'no')
      return this.#end({ head: this.#head, error })
    } finally {
      this.#deadline.close()
    }
  }

  /** The error for what was thrown until that deadline. */
  #errorOf(thrown: unknown, { ending }: Deadline, applied: Applied, sends?: Sends) {
    if (ending === 'aborted') return abortError(this.#options.signal?.reason, applied)
    if (ending !== undefined) {
      const limits = { attempt_timeout: 'timeoutMs', total_timeout: 'totalTimeoutMs' } as const
      const timeoutMs = this.#settings[limits[ending]]
      const facts = { applied, retryable: true, timeoutMs }
      return connectionError(this.#sent.url, ending, `${ending} of ${timeoutMs} ms`, facts)
    }
    if (isPlantStoreError(thrown)) return thrown
    const seen = { isOnce: sends?.isOnce ?? false, status: sends?.status() }
    return toConnectionError(thrown, { ...this.#sent, ...seen, applied })
  }

  /** Sends the request once and reads its response, within a time that covers both. */
  async #attempt(): Promise<Outcome> {
    const fetch: PlantStoreFetch = this.#settings.fetch ?? globalThis.fetch
    if (typeof fetch !== 'function') throw optionError('fetch', 'is missing; the runtime has none')
    this.#emit({ type: 'request' }, this.#attempts + 1)
    // The listener may have aborted the call just now.
    this.#deadline.signal.throwIfAborted()
    const startedAt = performance.now()
    const sends = watchSends(fetch, this.#sent.requestId, this.#sent.url.origin)
    const deadline = new Deadline(this.#settings.timeoutMs, 'attempt_timeout', this.#deadline)
    const attempt: Attempt = { sends, deadline, body: { text: '' } }
    const outcome = await deadline.race(this.#exchange(fetch, attempt)).catch((thrown: unknown) => {
      const { head, body } = attempt
      // Nothing was sent while the connection was being made.
      const applied = sends.atMost() === 0 ? 'no' : appliedByPart(head, body.text, this.#sent)
      return { head, error: this.#errorOf(thrown, deadline, applied, sends) }
    })
    sends.close()
    deadline.close()
    const { head, error } = outcome
    this.#head = head
    this.#resent += (sends.atMost() || 1) - 1
    if (error !== undefined) this.#applied = nextApplied(this.#applied, error)
    if (head !== undefined) {
      const durationMs = performance.now() - startedAt
      this.#emit({ type: 'response', status: head.status, durationMs })
    }
    return outcome
  }

  async #exchange(fetch: PlantStoreFetch, attempt: Attempt): Promise<Outcome> {
    const { url, body, requestId } = this.#sent
    const { signal } = attempt.deadline
    // A header more in the contract does not compile before it is sent.
    const headers = {
      ...this.#settings.headers,
      [headerNames.authorization]: `${AUTHORIZATION_SCHEME} ${this.#token?.token}`,
      [headerNames.contentType]: contract.createPlant.contentType,
      [headerNames.requestId]: requestId,
      [headerNames.retryCount]: String(this.#attempts++),
    } satisfies Record<keyof typeof contract.createPlant.headers, string>
    const { method } = contract.createPlant
    const response = await fetch(url.href, { method, headers, body, signal, redirect: 'manual' })
    attempt.sends.onResponse()
    const { status, headers: given } = response
    const head = { status, headers: given instanceof Headers ? given : copyHeaders(given) }
    attempt.head = head
    await readBody(response, MAX_ERROR_LENGTH + MAX_GROWTH * body.length, signal, attempt.body)
    return judgeResponse(head, attempt.body.text, this.#sent, attempt.sends.atMost() === 1)
  }

  /** Waits until it is time to send again; false where that is not to be. */
  async #prepareRetry(error: PlantStoreError): Promise<boolean> {
    const { code, message } = error
    const delayMs = this.#refreshesToken() ? 0 : this.#delayBefore(error)
    if (delayMs === undefined) return false
    this.#emit({ type: 'retry', code, message, delayMs })
    if (delayMs > 0) await sleep(delayMs, this.#deadline.signal)
    return true
  }

  /** How long to wait for a retry, never past a limit; undefined where there is to be none. */
  #delayBefore(error: PlantStoreError): number | undefined {
    const { maxRetries, maxRetryAfterMs, totalTimeoutMs } = this.#settings
    const { retryable, retryAfterMs = 0 } = error
    if (!retryable || this.#options[GIVES_BACK]?.(error)) return undefined
    if (this.#retries >= maxRetries || retryAfterMs > maxRetryAfterMs) return undefined
    const waitedMs = waitMs(retryAfterMs, this.#retries++)
    const delayMs = retryAfterMs > 0 ? Math.min(waitedMs, maxRetryAfterMs) : waitedMs
    const isInTime = performance.now() + delayMs < this.#startedAt + totalTimeoutMs
    return isInTime ? delayMs : undefined
  }

  /**
   * Drops a token that the server did not take; true where another is worth a request. That is not
   * counted as a retry, but a call without retries is exactly one request.
   */
  #refreshesToken(): boolean {
    const { tokens, maxRetries } = this.#settings
    if (this.#head?.status !== 401 || this.#token === undefined) return false
    tokens.refuse(this.#token)
    this.#token = undefined
    return tokens.canRefresh && maxRetries > 0 && this.#refreshes++ === 0
  }

  #end(outcome: Outcome): CallResult {
    const { head, error } = outcome
    const { plant, scrub } = this.#sent
    const attempts = this.#attempts + this.#resent
    const sent = attempts > 0 && { requestId: this.#requestId() }
    const durationMs = performance.now() - this.#startedAt
    const meta = { ...head, ...sent, attempts, durationMs }
    if (error === undefined) return { ...outcome, meta }
    // A failure is often logged whole, and a response may quote the request.
    const isSound = (line: string) => scrub(line) === line
    if (head !== undefined) meta.headers = copyHeaders(head.headers, isSound)
    const applied = plant === undefined ? 'no' : this.#applied
    const { code, message } = Object.assign(error, { applied, attempts, ...sent })
    this.#emit({ type: 'failure', code, message, applied, durationMs })
    return { ...outcome, meta }
  }

  /** The id that the response names, which is another where a proxy gives its own. */
  #requestId(): string {
    const { requestId, scrub } = this.#sent
    const named = this.#head?.headers.get(headerNames.requestId) ?? ''
    const isOther = named !== requestId && isRequestId(named) && scrub(named) === named
    return isOther ? named : requestId
  }

  #emit(facts: EventFacts, attempt = this.#attempts): void {
    const { requestId } = this.#sent
    notify(this.#settings.onEvent, { ...facts, requestId, attempt })
  }
}

/** Makes a call. Never rejects: what went wrong is in the result. */
export function runCall(
  settings: Settings,
  options: CallOptions,
  operation: Pick<Sent, 'url' | 'body' | 'plant'>,
): Promise<CallResult> {
  const { requestId = createRequestId() } = options
  const secrets = new Set<string>()
  const sent = { ...operation, requestId, secrets, scrub: createScrub(secrets) }
  return new Call(sent, toCallSettings(settings, options), options).run()
}
