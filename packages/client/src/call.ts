import { AUTHORIZATION_SCHEME, contract, headerNames, isRequestId } from '@plant-store/contract'
import { appliedByPart, nextApplied } from './applied.ts'
import type { NewPlant } from './contract-types.ts'
import { Deadline, sleep } from './deadline.ts'
import { type Applied, optionError, type PlantStoreError } from './errors.ts'
import type { EventFacts } from './events.ts'
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
import { watchSends } from './sends.ts'
import { askToken } from './token.ts'

/** Under this symbol a bulk says which failures a call gives back at once, and does not retry itself. */
export const GIVES_BACK: unique symbol = Symbol('gives back')

/** The options of a call, and what a bulk adds to them; options that are spread keep it. */
export interface CallOptions extends CreatePlantOptions {
  readonly [GIVES_BACK]?: (error: PlantStoreError) => boolean
}

/** The longest Retry-After to wait for; a longer one fails at once. */
const MAX_RETRY_AFTER_MS = 30_000

/** A response repeats what was sent, where JSON may take six characters for one: `\u0041`. */
const MAX_GROWTH = 6
const MAX_ERROR_LENGTH = 65_536

/** One call: its attempts, the waits between them, and what is known of the plant. */
export class Call {
  readonly #sent: Sent
  readonly #settings: Settings
  readonly #options: CallOptions
  readonly #startedAt = performance.now()
  readonly #secrets = new Set<string>()
  #token: string | undefined
  #isRefreshed = false
  #attempts = 0
  /** Requests that fetch sent besides the one that it was asked to, as far as they were seen. */
  #resent = 0
  #retries = 0
  #applied: Applied = 'no'
  #head: ResponseHead | undefined

  constructor(settings: Settings, options: CallOptions, body: string, plant?: NewPlant) {
    const { requestId = createRequestId() } = options
    this.#settings = toCallSettings(settings, options)
    this.#options = options
    const scrub = createScrub(this.#secrets)
    this.#sent = { url: settings.url, body, plant, requestId, scrub }
  }

  /** Makes the call. Never rejects: what went wrong is in the result. */
  async run(): Promise<CallResult> {
    const { token } = this.#settings
    const ask = (deadline: Deadline) => askToken(token, this.#isRefreshed, deadline)
    try {
      for (;;) {
        this.#token ??= typeof token === 'string' ? token : await this.#within(Infinity, ask)
        this.#secrets.add(this.#token)
        const outcome = await this.#attempt()
        if (outcome.error === undefined) return this.#end(outcome)
        this.#applied = nextApplied(this.#applied, outcome.error)
        if (!(await this.#prepareRetry(outcome.error))) return this.#end(outcome)
      }
    } catch (thrown) {
      // Between attempts nothing is sent, so nothing becomes doubtful there.
      return this.#end({ error: toConnectionError(thrown, this.#sent, 'no') })
    }
  }

  /** Work within so many milliseconds at most, and within the call. @throws PlantStoreError */
  async #within<T>(ms: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
    const { totalTimeoutMs } = this.#settings
    const leftMs = this.#startedAt + totalTimeoutMs - performance.now()
    const code = leftMs > ms ? 'attempt_timeout' : 'total_timeout'
    const timeoutMs = leftMs > ms ? ms : totalTimeoutMs
    const facts = { retryable: true, timeoutMs }
    const end = () => connectionError(this.#sent.url, code, `${code} of ${timeoutMs} ms`, facts)
    const deadline = new Deadline(Math.min(ms, leftMs), end, this.#options.signal)
    try {
      deadline.signal.throwIfAborted()
      return await work(deadline)
    } finally {
      deadline.close()
    }
  }

  /** Sends the request once and reads its response, within a time that covers both. */
  async #attempt(): Promise<Outcome> {
    const fetch: PlantStoreFetch = this.#settings.fetch ?? globalThis.fetch
    if (typeof fetch !== 'function') throw optionError('fetch', 'is missing; the runtime has none')
    const startedAt = performance.now()
    const outcome = await this.#within(this.#settings.timeoutMs, (deadline) =>
      this.#exchange(fetch, deadline),
    )
    const durationMs = performance.now() - startedAt
    if (this.#head) this.#emit({ type: 'response', status: this.#head.status, durationMs })
    return outcome
  }

  async #exchange(fetch: PlantStoreFetch, deadline: Deadline): Promise<Outcome> {
    this.#emit({ type: 'request' }, this.#attempts + 1)
    // The listener may have aborted the call just now.
    deadline.signal.throwIfAborted()
    const { url, body, requestId } = this.#sent
    const sends = watchSends(fetch, requestId, url.origin)
    const read = { text: '' }
    const headers = {
      ...this.#settings.headers,
      [headerNames.authorization]: `${AUTHORIZATION_SCHEME} ${this.#token}`,
      [headerNames.contentType]: contract.createPlant.contentType,
      [headerNames.requestId]: requestId,
      [headerNames.retryCount]: String(this.#attempts++),
      // A header more in the contract does not compile before it is sent.
    } satisfies Record<keyof typeof contract.createPlant.headers, string>
    const { method } = contract.createPlant
    const request = { method, headers, body, signal: deadline.signal, redirect: 'manual' } as const
    this.#head = undefined
    try {
      const response = await deadline.race(fetch(url.href, request))
      sends.onResponse()
      const { status, headers: given } = response
      this.#head = { status, headers: given instanceof Headers ? given : copyHeaders(given) }
      const limit = MAX_ERROR_LENGTH + MAX_GROWTH * body.length
      await deadline.race(readBody(response, limit, deadline.signal, read))
      return judgeResponse(this.#head, read.text, this.#sent, sends.atMost() === 1)
    } catch (thrown) {
      // Nothing was sent while the connection was being made.
      const isUnsent = sends.atMost() === 0
      const applied = isUnsent ? 'no' : appliedByPart(this.#head, read.text, this.#sent)
      return { error: toConnectionError(thrown, this.#sent, applied, sends) }
    } finally {
      this.#resent += (sends.atMost() || 1) - 1
      sends.close()
    }
  }

  /** Waits until it is time to send again; false where that is not to be. */
  async #prepareRetry(error: PlantStoreError): Promise<boolean> {
    const { token, maxRetries } = this.#settings
    // Another token is not counted as a retry, but a call without retries is exactly one request.
    const hasOther = typeof token === 'function' && maxRetries > 0 && !this.#isRefreshed
    const refreshes = hasOther && error.status === 401
    const delayMs = refreshes ? 0 : this.#delayBefore(error)
    if (delayMs === undefined) return false
    if (refreshes) this.#token = undefined
    this.#isRefreshed ||= refreshes
    this.#emit({ type: 'retry', code: error.code, message: error.message, delayMs })
    if (delayMs > 0) await sleep(delayMs, this.#options.signal)
    return true
  }

  /** How long to wait for a retry, in milliseconds; undefined where there is to be none. */
  #delayBefore(error: PlantStoreError): number | undefined {
    const { maxRetries, totalTimeoutMs } = this.#settings
    const { retryable, retryAfterMs = 0 } = error
    const isOver = this.#retries >= maxRetries || retryAfterMs > MAX_RETRY_AFTER_MS
    if (!retryable || isOver || this.#options[GIVES_BACK]?.(error)) return undefined
    const delayMs = waitMs(retryAfterMs, this.#retries++)
    const isInTime = performance.now() + delayMs < this.#startedAt + totalTimeoutMs
    return isInTime ? delayMs : undefined
  }

  #end(outcome: Outcome): CallResult {
    const { error } = outcome
    const { requestId, scrub } = this.#sent
    // A failure is often logged whole, and a response may quote the request.
    const isSound = (text: string) => scrub(text) === text
    const attempts = this.#attempts + this.#resent
    // Where a proxy gives an id of its own, the server's log has that one.
    const named = this.#head?.headers.get(headerNames.requestId) ?? ''
    const isOther = named !== requestId && isRequestId(named) && isSound(named)
    const sent = attempts > 0 && { requestId: isOther ? named : requestId }
    const durationMs = performance.now() - this.#startedAt
    const meta = { ...this.#head, ...sent, attempts, durationMs }
    if (error === undefined) return { ...outcome, meta }
    if (this.#head !== undefined) meta.headers = copyHeaders(this.#head.headers, isSound)
    const applied = this.#sent.plant === undefined ? 'no' : this.#applied
    const { code, message } = Object.assign(error, { applied, attempts, ...sent })
    this.#emit({ type: 'failure', code, message, applied, durationMs })
    return { error, meta }
  }

  /** Tells the listener; what it throws, or rejects with, goes nowhere. */
  #emit(facts: EventFacts, attempt = this.#attempts): void {
    const { onEvent } = this.#settings
    const event = { ...facts, requestId: this.#sent.requestId, attempt }
    if (onEvent) new Promise((resolve) => resolve(onEvent(event))).catch(() => {})
  }
}
