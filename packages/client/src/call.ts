import { AUTHORIZATION_SCHEME, contract, headerNames, isRequestId } from '@plant-store/contract'
import { nextApplied, type ReplyHead } from './applied.ts'
import { type AttemptContext, attempt, type Operation, toEndingError } from './attempt.ts'
import { Deadline } from './deadline.ts'
import { PlantStoreAbortError } from './errors/abort-error.ts'
import {
  type Applied,
  completeError,
  isBranded,
  type PlantStoreError,
  retryAfterOf,
} from './errors/plant-store-error.ts'
import { type EventFacts, emitEvent } from './events.ts'
import type { JudgedReply } from './reply.ts'
import { decideRetry } from './retry.ts'
import type { Runtime } from './runtime.ts'
import { createScrubber } from './scrubber.ts'
import type { CallSettings } from './settings.ts'
import type { IssuedToken } from './token.ts'
import { toConnectionError } from './transport-failure.ts'

/** How a call went. */
export interface PlantStoreMeta {
  /** The status of the last reply; undefined where there was none. */
  readonly status?: number
  /** The id under which the server's log has the call; undefined where nothing was sent. */
  readonly requestId?: string
  /** Requests sent. */
  readonly attempts: number
  /** The whole call, waits included, in milliseconds. */
  readonly durationMs: number
  /** The headers of the reply that brought the plant. */
  readonly headers?: Headers
}

/** What a call came to. */
export interface CallResult extends JudgedReply {
  readonly meta: PlantStoreMeta
}

/** Every header that the contract has for a request; one more does not compile here before it is sent. */
type HeaderName = keyof (typeof contract)['createPlant']['headers']

/** One call: its attempts, the waits between them, and what is known of the plant. */
class Call {
  #context: AttemptContext
  readonly #startedAt: number
  #token: IssuedToken | undefined
  #hasRefreshed = false
  #attempts = 0
  #retries = 0
  #applied: Applied = 'no'
  #head: ReplyHead | undefined

  constructor(context: AttemptContext) {
    this.#context = context
    this.#startedAt = context.runtime.now()
  }

  async run(): Promise<CallResult> {
    const { pacer } = this.#context.settings
    let reply: JudgedReply | undefined
    try {
      while (await this.#mayAttempt()) {
        reply = await this.#attempt()
        const isHeld = pacer?.onReply(this, reply.error) ?? false
        if (reply.error === undefined || !(await this.#prepareRetry(reply.error, isHeld))) break
      }
      return this.#end(reply ?? { head: undefined, error: this.#neverSent() })
    } catch (thrown) {
      return this.#end({ head: this.#head, error: this.#errorOf(thrown) })
    } finally {
      pacer?.leave(this)
      this.#context.deadline.close()
    }
  }

  /** The bulk that the call is of has ended before its first request. */
  #neverSent(): PlantStoreError {
    return new PlantStoreAbortError(this.#context.settings.pacer?.fatal, 'no')
  }

  /** Gives the call another time from now on. */
  #restart(ms: number): void {
    this.#context.deadline.close()
    this.#context = { ...this.#context, deadline: openDeadline(this.#context, ms) }
  }

  /** Gets the token, and waits while the bulk that the call is of holds it, which costs it no time. */
  async #mayAttempt(): Promise<boolean> {
    const { deadline, scrubber, settings } = this.#context
    deadline.signal.throwIfAborted()
    if (this.#token === undefined) {
      this.#token = await settings.tokens.get(deadline)
      scrubber.hide(this.#token.token)
    }
    const { pacer, totalTimeoutMs } = settings
    if (!pacer?.holds(this)) return true
    this.#restart(Number.POSITIVE_INFINITY)
    const isAdmitted = await this.#context.deadline.race(pacer.enter(this))
    this.#restart(totalTimeoutMs)
    return isAdmitted
  }

  /** The error for what ended the call outside of an attempt. */
  #errorOf(thrown: unknown): PlantStoreError {
    const { deadline, operation, scrubber } = this.#context
    // Between attempts nothing is sent, so nothing becomes doubtful there.
    if (deadline.ending) return toEndingError(deadline.ending, this.#context, 'no')
    if (isBranded(thrown)) return thrown
    // Nobody has foreseen this: of what was sent it is only known that it was sent.
    if (this.#attempts > 0 && this.#applied === 'no') this.#applied = 'maybe'
    return toConnectionError(thrown, operation.url, scrubber, this.#applied)
  }

  async #attempt(): Promise<JudgedReply> {
    const { deadline, runtime, settings } = this.#context
    this.#emit({ type: 'request' }, this.#attempts + 1)
    // The listener may have aborted the call just now.
    deadline.signal.throwIfAborted()
    settings.pacer?.onRequest(this.#attempts === 0)
    const startedAt = runtime.now()
    const headers = {
      ...settings.headers,
      [headerNames.authorization]: `${AUTHORIZATION_SCHEME} ${this.#token?.token}`,
      [headerNames.contentType]: contract.createPlant.contentType,
      [headerNames.requestId]: this.#context.requestId,
      [headerNames.retryCount]: String(this.#attempts++),
    } satisfies Readonly<Record<HeaderName, string>>
    const reply = await attempt(this.#context, headers)
    const { head, error } = reply
    this.#head = head
    if (error !== undefined) this.#applied = nextApplied(this.#applied, error)
    if (head !== undefined) {
      this.#emit({ type: 'response', status: head.status, durationMs: runtime.now() - startedAt })
    }
    return reply
  }

  /** Waits until it is time to send again; false where that is not to be. */
  async #prepareRetry(error: PlantStoreError, isHeld: boolean): Promise<boolean> {
    const { deadline, runtime, settings } = this.#context
    const { maxRetries, maxRetryAfterMs, pacer, totalTimeoutMs } = settings
    const { code } = error
    if (pacer !== undefined && isHeld) {
      this.#restart(totalTimeoutMs)
      this.#emit({ type: 'retry', code, delayMs: pacer.waitMs })
      return true
    }
    if (this.#refreshesToken()) {
      this.#emit({ type: 'retry', code, delayMs: 0 })
      return true
    }
    const decision = decideRetry({
      retryable: error.retryable,
      retries: this.#retries++,
      maxRetries,
      retryAfterMs: retryAfterOf(error),
      maxRetryAfterMs,
      remainingMs: deadline.remainingMs,
      random: runtime.random(),
    })
    const isGranted = pacer?.takeRetry(error, decision) ?? true
    if (!('delayMs' in decision && isGranted)) return false
    this.#emit({ type: 'retry', code, delayMs: decision.delayMs })
    await deadline.sleep(decision.delayMs)
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

  #end(reply: JudgedReply): CallResult {
    const { head, error } = reply
    const attempts = this.#attempts
    const sent = attempts > 0 && { requestId: this.#requestId() }
    const durationMs = this.#context.runtime.now() - this.#startedAt
    const meta = { ...(head && { status: head.status }), ...sent, attempts, durationMs }
    if (error === undefined) {
      return { ...reply, meta: { ...meta, ...(head && { headers: head.headers }) } }
    }
    const applied = this.#applied
    completeError(error, { applied, attempts, ...sent })
    this.#emit({ type: 'failure', code: error.code, applied, durationMs })
    return { ...reply, meta }
  }

  /** The id that the reply names, which is another where a proxy gives its own. */
  #requestId(): string {
    const { requestId, scrubber } = this.#context
    const replied = this.#head?.headers.get(headerNames.requestId) ?? ''
    const isSound = isRequestId(replied) && scrubber.scrub(replied) === replied
    return isSound ? replied : requestId
  }

  #emit(facts: EventFacts, attempt = this.#attempts): void {
    const { requestId, settings } = this.#context
    emitEvent(settings.onEvent, { ...facts, requestId, attempt })
  }
}

function openDeadline(
  { runtime, settings }: Pick<AttemptContext, 'runtime' | 'settings'>,
  ms: number,
): Deadline {
  return new Deadline({ runtime, ms, ending: 'total_timeout', within: settings.signal })
}

/** Makes a call. Never rejects: what went wrong is in the result. */
export function runCall(
  settings: CallSettings,
  runtime: Runtime,
  operation: Operation,
): Promise<CallResult> {
  const deadline = openDeadline({ runtime, settings }, settings.totalTimeoutMs)
  const requestId = runtime.newRequestId()
  const scrubber = createScrubber()
  return new Call({ settings, operation, deadline, requestId, scrubber, runtime }).run()
}
