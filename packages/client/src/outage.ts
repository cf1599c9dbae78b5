import type { PlantStoreError } from './errors.ts'
import { backoffMs, withJitter } from './retry.ts'
import type { Runtime } from './runtime.ts'

/** Whether the error says that nobody has taken the plant, which may be because the server is away. */
export function isOutage({ reason, retryable, status }: PlantStoreError): boolean {
  if (status !== undefined) return [429, 502, 503, 504].includes(status)
  return reason !== undefined && retryable
}

/**
 * Whether the failure may come from what the row holds: a gateway refuses it, or nobody answers it.
 * Without a connection nobody has read it, and the server itself gives its own state for a reason.
 */
export function mayBeOwn({ apiCode, code, status }: PlantStoreError): boolean {
  return apiCode === undefined && code !== 'connection_failed' && status !== 429
}

/** What a bulk does just now. */
export type BulkState =
  | {
      /** Plants are being sent, or all have been. */
      readonly type: 'running'
    }
  | {
      /** The server asked to wait (429, or Retry-After). */
      readonly type: 'waiting'
      /** How long still, in milliseconds. */
      readonly ms: number
    }
  | {
      /** The server is away: one request at a time is sent until there is a response. */
      readonly type: 'outage'
      /** How long until the bulk gives up, in milliseconds. */
      readonly remainingMs: number
      /** Why the last request failed. */
      readonly cause: PlantStoreError
    }

/** The waits between probes double at most so often: 250 ms become 4 s. */
const MAX_DOUBLINGS = 4

export interface OutageOptions {
  readonly runtime: Runtime
  /** After so long there is no more waiting. */
  readonly maxOutageMs: number
  /** Sends what can fail only because the server is away; gives why it did. */
  readonly probe: () => Promise<PlantStoreError | undefined>
  readonly onChange: () => void
}

/** Where all rows of a bulk wait together while it is not known whether the server is there. */
export class Outage {
  readonly #options: OutageOptions
  readonly #wakes = new Set<() => void>()
  #inquiry: Promise<boolean> | undefined
  /** The first failure since the last response. */
  #since: number | undefined
  #rounds = 0
  #cause: PlantStoreError | undefined
  #waitsUntil = 0
  #failure: PlantStoreError | undefined
  #isOver = false

  constructor(options: OutageOptions) {
    this.#options = options
  }

  /** Whether nothing is to be sent any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Why the last request failed, once an outage has lasted too long. */
  get failure(): PlantStoreError | undefined {
    return this.#failure
  }

  get state(): BulkState {
    const cause = this.#failure ?? this.#cause
    if (cause === undefined || this.#since === undefined) return { type: 'running' }
    const now = this.#options.runtime.now()
    const ms = Math.max(0, this.#waitsUntil - now)
    if (this.#failure === undefined && (cause.retryAfterMs || cause.status === 429)) {
      return { type: 'waiting', ms }
    }
    const remainingMs = Math.max(0, this.#since + this.#options.maxOutageMs - now)
    return { type: 'outage', remainingMs, cause }
  }

  /** Resolves once rows may be sent, or nothing is to be sent any more. */
  async pass(): Promise<void> {
    while (this.#inquiry !== undefined && !this.#isOver) await this.#inquiry
  }

  /** A row has a response, whatever it says; one that was sent before others failed says nothing. */
  onResponse(): void {
    if (this.#cause !== undefined) return
    this.#since = undefined
    this.#rounds = 0
  }

  /**
   * A row has failed so that the server may be away. Resolves once that is known, and it is back; true
   * where it was there all the time, so that the row may have failed for what it holds.
   */
  inquire(error: PlantStoreError): Promise<boolean> {
    if (this.#inquiry !== undefined && error.retryAfterMs) this.#delay(error)
    this.#inquiry ??= this.#findOut(error).finally(() => {
      this.#inquiry = undefined
      this.#cause = undefined
      this.#options.onChange()
    })
    return this.#inquiry
  }

  async #findOut(error: PlantStoreError): Promise<boolean> {
    this.#since ??= this.#options.runtime.now()
    // What answers of its own state is there, and only a row can tell whether that has changed.
    const isProbed = error.apiCode === undefined
    // A connection may break without a cause that lasts: the first probe finds out at once.
    let failure: PlantStoreError | undefined = error
    for (let probes = 0; failure !== undefined && !this.#isOver; probes++) {
      const isAtOnce = isProbed && probes === 0 && !failure.retryAfterMs && failure.status !== 429
      await this.#wait(failure, isAtOnce)
      if (this.#isOver || !isProbed) return false
      failure = await this.#options.probe()
      if (failure !== undefined) continue
      this.#cause = undefined
      this.onResponse()
      return probes === 0
    }
    return false
  }

  /** Waits before the next request. */
  async #wait(error: PlantStoreError, isAtOnce: boolean): Promise<void> {
    const { runtime, onChange } = this.#options
    this.#cause = error
    if (isAtOnce) return
    this.#delay(error)
    onChange()
    while (!this.#isOver && this.#waitsUntil > runtime.now()) {
      await this.sleep(this.#waitsUntil - runtime.now())
    }
  }

  /** Puts the next request off, or ends what has lasted, or would last, too long. */
  #delay(error: PlantStoreError): void {
    const { runtime, maxOutageMs } = this.#options
    const now = runtime.now()
    const endsAt = (this.#since ?? now) + maxOutageMs
    // The last request goes at the very end.
    if (now >= endsAt || now + (error.retryAfterMs ?? 0) > endsAt) {
      this.end(error)
      return
    }
    const random = runtime.random()
    const delayMs = error.retryAfterMs
      ? withJitter(error.retryAfterMs, random)
      : backoffMs(Math.min(this.#rounds++, MAX_DOUBLINGS), random)
    this.#waitsUntil = Math.max(this.#waitsUntil, Math.min(now + delayMs, endsAt))
  }

  /** Resolves after that many milliseconds, or once nothing is to be sent any more. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isOver) return resolve()
      const wake = () => {
        stopTimer()
        this.#wakes.delete(wake)
        resolve()
      }
      const stopTimer = this.#options.runtime.startTimer(wake, ms)
      this.#wakes.add(wake)
    })
  }

  /** Ends all waits; nothing is to be sent any more. */
  end(failure?: PlantStoreError): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    for (const wake of this.#wakes) wake()
    this.#options.onChange()
  }
}
