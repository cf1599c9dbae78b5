import { PlantStoreConnectionError } from './errors/connection-error.ts'
import { hasStatus, type PlantStoreError } from './errors/plant-store-error.ts'
import { Gate } from './gate.ts'
import { isFatal } from './is-fatal.ts'
import type { Pacer } from './pacer.ts'
import type { CreatePlantsState } from './progress.ts'
import type { RetryDecision } from './retry.ts'
import type { Runtime } from './runtime.ts'

/** One more at once after this many plants that were stored. */
const SUCCESSES_PER_STEP = 50

/** A failing server is sent so many retries for each plant at once, and then one for five plants. */
const RETRIES_AT_ONCE = 8
const MIN_RETRIES = 100
const COST_OF_RETRY = 5
const GAIN_OF_SUCCESS = 1

/** After this many plants in a row without a reply there is no server to speak to. */
const MAX_CONNECTION_FAILURES = 20

/** Whether the error says that the server, or a proxy for it, takes no plants at present. */
function isOutage(error: PlantStoreError): boolean {
  const isLost = error instanceof PlantStoreConnectionError && error.retryable
  return isLost || hasStatus(error, 429, 502, 503, 504)
}

/** The options of a bulk that its pace depends on. */
export interface PaceOptions {
  readonly concurrency: number
  readonly isAdaptive: boolean
  readonly maxOutageMs: number
  /** Called when the state has changed. */
  readonly onChange: () => void
  /** Called at the first request for a plant. */
  readonly onSent: () => void
}

/**
 * The speed of a bulk: how many plants at once, when to wait, how many retries are left, and whether
 * to go on at all. A 429 or 503 halves the speed, once for all the calls that were on their way
 * together.
 */
export class Pace implements Pacer {
  readonly #options: PaceOptions
  readonly #gate: Gate
  readonly #maxBudget: number
  #budget: number
  #concurrency: number
  #repliesSinceHalved = Number.POSITIVE_INFINITY
  #inFlightWhenHalved = 0
  #successes = 0
  #connectionFailures = 0
  #fatal: PlantStoreError | undefined

  constructor(runtime: Runtime, options: PaceOptions) {
    const { concurrency, maxOutageMs, onChange } = options
    this.#options = options
    this.#gate = new Gate(runtime, maxOutageMs, onChange)
    this.#maxBudget = COST_OF_RETRY * Math.max(MIN_RETRIES, RETRIES_AT_ONCE * concurrency)
    this.#budget = this.#maxBudget
    this.#concurrency = concurrency
  }

  /** How many plants may be on their way at once. */
  get concurrency(): number {
    return this.#concurrency
  }

  get fatal(): PlantStoreError | undefined {
    return this.#fatal ?? this.#gate.failure
  }

  get state(): CreatePlantsState {
    return this.#gate.state
  }

  get waitMs(): number {
    return this.#gate.waitMs
  }

  holds(call: object): boolean {
    return this.#gate.holds(call)
  }

  enter(call: object): Promise<boolean> {
    return this.#gate.enter(call)
  }

  leave(call: object): void {
    this.#gate.leave(call)
  }

  onRequest(isFirst: boolean): void {
    if (isFirst) this.#options.onSent()
  }

  onReply(call: object, error: PlantStoreError | undefined): boolean {
    this.#repliesSinceHalved++
    if (error === undefined) this.#onSuccess()
    const isBusy = error !== undefined && hasStatus(error, 429, 503)
    if (isBusy && this.#options.isAdaptive) this.#halve()
    const isHeld = this.#options.maxOutageMs > 0 ? error !== undefined && isOutage(error) : isBusy
    if (error !== undefined && isHeld) return this.#gate.onFailure(call, error)
    this.#gate.onReply(call)
    return false
  }

  #onSuccess(): void {
    this.#connectionFailures = 0
    this.#budget = Math.min(this.#maxBudget, this.#budget + GAIN_OF_SUCCESS)
    if (++this.#successes % SUCCESSES_PER_STEP === 0) {
      this.#concurrency = Math.min(this.#options.concurrency, this.#concurrency + 1)
    }
  }

  #halve(): void {
    if (this.#repliesSinceHalved <= this.#inFlightWhenHalved) return
    this.#inFlightWhenHalved = this.#concurrency
    this.#repliesSinceHalved = 0
    this.#successes = 0
    this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2))
  }

  /** A 429 costs nothing: the server is well, and has said when to come back. */
  takeRetry(error: PlantStoreError, decision: RetryDecision): boolean {
    if ('refusal' in decision) {
      // A wait beyond the cap is not slept, and to go on is what the server asked not to do.
      const isTooLong = decision.refusal === 'wait_too_long' && hasStatus(error, 429, 503)
      if (isTooLong) this.#gate.end(error)
      return false
    }
    if (this.#gate.failure !== undefined) return false
    if (hasStatus(error, 429)) return true
    if (this.#budget < COST_OF_RETRY) return false
    this.#budget -= COST_OF_RETRY
    return true
  }

  /** A plant is given up. */
  onGivenUp(error: PlantStoreError): void {
    // Nothing was sent, which says nothing of the server.
    if (error.attempts === 0 && error.code === 'invalid_plant') return
    if (this.fatal !== undefined) return
    const isLost = error instanceof PlantStoreConnectionError
    this.#connectionFailures = isLost ? this.#connectionFailures + 1 : 0
    if (isFatal(error) || this.#connectionFailures >= MAX_CONNECTION_FAILURES) this.#fatal = error
  }

  /** Lets go of the timer. */
  close(): void {
    this.#gate.close()
  }
}
