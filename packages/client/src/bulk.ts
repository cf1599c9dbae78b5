import { nextApplied } from './applied.ts'
import { type CallOptions, GIVES_BACK } from './call.ts'
import type { CreatePlantResult, PlantStoreClient } from './client.ts'
import type { NewPlantInput } from './contract-types.ts'
import { sleep } from './deadline.ts'
import { type Applied, isPlantStoreError, type PlantStoreError } from './errors.ts'
import { waitMs } from './retry.ts'

/** The part of a client that a bulk uses. */
export type PlantCreator = Pick<PlantStoreClient, 'tryCreatePlant' | 'checkToken'>

/** What a bulk does just now. */
export type BulkState =
  /** Plants are being sent, or all have been. */
  | { readonly type: 'running' }
  /** The server asked to wait (429, or Retry-After), for so many milliseconds still. */
  | { readonly type: 'waiting'; readonly ms: number }
  /** The server is away, for `cause`; the bulk gives up when so many milliseconds more have passed. */
  | { readonly type: 'outage'; readonly remainingMs: number; readonly cause: PlantStoreError }

/** Whether the error says that nobody has taken the plant, which may be because the server is away. */
function isOutage({ reason, retryable, status }: PlantStoreError): boolean {
  if (status !== undefined) return [429, 502, 503, 504].includes(status)
  return reason !== undefined && retryable
}

/**
 * Whether the failure may come from what the row holds: a gateway refuses it, or nobody answers it.
 * Without a connection nobody has read it, and the server itself gives its own state for a reason.
 */
function mayBeOwn({ apiCode, code, status }: PlantStoreError): boolean {
  return apiCode === undefined && code !== 'connection_failed' && status !== 429
}

/** So often a row may fail while the server is there; then that is for what it holds. */
const MAX_OWN_FAILURES = 3

/** The waits between probes double at most so often: 250 ms become 4 s. */
const MAX_DOUBLINGS = 4

/** Sends the rows of a bulk, which wait together while it is not known whether the server is there. */
export class RowSender {
  /** Why the last request failed, once an outage has lasted too long. */
  failure: PlantStoreError | undefined
  readonly #client: PlantCreator
  readonly #options: CallOptions
  readonly #maxOutageMs: number
  readonly #onChange: () => void
  readonly #over = new AbortController()
  /** A plant that is stored: to send it again can fail only because the server is away. */
  #stored: NewPlantInput | undefined
  #inquiry: Promise<boolean> | undefined
  /** The first failure since the last response. */
  #since: number | undefined
  #cause: PlantStoreError | undefined
  #rounds = 0
  #waitsUntil = 0

  constructor(
    client: PlantCreator,
    options: CallOptions,
    maxOutageMs: number,
    onChange: () => void,
  ) {
    this.#client = client
    this.#options = { ...options, [GIVES_BACK]: isOutage }
    this.#maxOutageMs = maxOutageMs
    this.#onChange = onChange
  }

  /** Whether nothing is to be sent any more. */
  get isOver(): boolean {
    return this.#over.signal.aborted
  }

  get state(): BulkState {
    const cause = this.failure ?? this.#cause
    if (cause === undefined || this.#since === undefined) return { type: 'running' }
    const msTo = (time: number) => Math.max(0, time - performance.now())
    const isAsked = cause.retryAfterMs || cause.status === 429
    if (isAsked && !this.failure) return { type: 'waiting', ms: msTo(this.#waitsUntil) }
    return { type: 'outage', remainingMs: msTo(this.#since + this.#maxOutageMs), cause }
  }

  /** Ends all waits; nothing is to be sent any more. */
  end(failure?: PlantStoreError): void {
    if (this.isOver) return
    this.failure = failure
    this.#over.abort()
    this.#onChange()
  }

  /** Sends a plant until it is answered, or has failed for what it holds, or the bulk has ended. */
  async store(input: NewPlantInput): Promise<CreatePlantResult> {
    const row = { startedAt: performance.now(), attempts: 0, applied: 'no' as Applied, own: 0 }
    for (;;) {
      while (this.#inquiry !== undefined && !this.isOver) await this.#inquiry
      const ended = { signal: AbortSignal.abort(this.failure) }
      const result = await this.#client.tryCreatePlant(input, this.isOver ? ended : this.#options)
      const isSent = result.meta.attempts > 0
      row.attempts += result.meta.attempts
      const durationMs = performance.now() - row.startedAt
      const summed = { ...result, meta: { ...result.meta, attempts: row.attempts, durationMs } }
      if (result.ok) this.#stored = { ...result.plant, id: Object(input).id }
      else {
        row.applied = nextApplied(row.applied, result.error)
        Object.assign(result.error, { applied: row.applied, attempts: row.attempts })
      }
      if (result.ok || !isSent || !isOutage(result.error)) {
        if (isSent && result.meta.status !== undefined) this.#onResponse()
        return summed
      }
      if (await this.#isGivenUp(row, result.error)) return summed
    }
  }

  /** Waits until the server is there; true where the row is not to be sent again. */
  async #isGivenUp(row: { startedAt: number; own: number }, error: PlantStoreError) {
    if (this.#inquiry !== undefined && error.retryAfterMs) this.#putOff(error)
    this.#inquiry ??= this.#inquire(error).finally(() => {
      this.#inquiry = undefined
      this.#cause = undefined
      this.#onChange()
    })
    const wasThere = await this.#inquiry
    // While others are stored, no outage lasts too long for what the server refuses this one.
    const lastedMs = performance.now() - row.startedAt
    if (!wasThere || !mayBeOwn(error)) return this.isOver || lastedMs > this.#maxOutageMs
    if (this.isOver || ++row.own === MAX_OWN_FAILURES) return true
    await sleep(waitMs(0, row.own), this.#over.signal)
    return false
  }

  /** There is a response, whatever it says; one that was sent before others failed says nothing. */
  #onResponse(): void {
    if (this.#cause !== undefined) return
    this.#since = undefined
    this.#rounds = 0
  }

  /** Resolves once the server is there, or the bulk has ended; true where it was there all the time. */
  async #inquire(error: PlantStoreError): Promise<boolean> {
    this.#since ??= performance.now()
    // What answers of its own state is there, and only a row can tell whether that has changed.
    const isProbed = error.apiCode === undefined
    // A connection may break without a cause that lasts: the first probe finds out at once.
    const isAtOnce = isProbed && !error.retryAfterMs && error.status !== 429
    this.#cause = error
    for (let probes = 0; ; probes++) {
      if (probes > 0 || !isAtOnce) await this.#wait(this.#cause)
      if (this.isOver || !isProbed) return false
      this.#cause = await this.#probe()
      if (this.#cause !== undefined) continue
      this.#onResponse()
      return probes === 0
    }
  }

  /** Sends what nobody refuses, a plant that is stored or what is never one; gives why that failed. */
  async #probe(): Promise<PlantStoreError | undefined> {
    const options = { ...this.#options, maxRetries: 0 }
    const store = async (plant: NewPlantInput) => {
      const result = await this.#client.tryCreatePlant(plant, options)
      if (!result.ok) throw result.error
    }
    const probing = this.#stored ? store(this.#stored) : this.#client.checkToken(options)
    const error: unknown = await probing.catch((thrown: unknown) => thrown)
    return isPlantStoreError(error) && isOutage(error) ? error : undefined
  }

  /** Waits before the next request. */
  async #wait(error: PlantStoreError): Promise<void> {
    this.#putOff(error)
    this.#onChange()
    while (!this.isOver && this.#waitsUntil > performance.now()) {
      await sleep(this.#waitsUntil - performance.now(), this.#over.signal)
    }
  }

  /** Puts the next request off, or ends what has lasted, or would last, too long. */
  #putOff(error: PlantStoreError): void {
    const now = performance.now()
    const endsAt = (this.#since ?? now) + this.#maxOutageMs
    // The last request goes at the very end.
    if (now >= endsAt || now + (error.retryAfterMs ?? 0) > endsAt) this.end(error)
    const rounds = error.retryAfterMs ? 0 : Math.min(this.#rounds++, MAX_DOUBLINGS)
    const until = now + waitMs(error.retryAfterMs, rounds)
    this.#waitsUntil = Math.max(this.#waitsUntil, Math.min(until, endsAt))
  }
}
