import { PlantStoreAbortError } from './errors/abort-error.ts'
import { PlantStoreConfigError } from './errors/config-error.ts'
import { PlantStoreConnectionError } from './errors/connection-error.ts'
import { type PlantStoreError, retryAfterOf } from './errors/plant-store-error.ts'
import { backoffMs, type RetryDecision } from './retry.ts'
import type { Runtime } from './runtime.ts'

/** One more at once after this many plants that were stored. */
const SUCCESSES_PER_STEP = 50

/** A dying server is asked again a hundred times in all, and then once for each plant. */
const BUDGET = 500
const COST_OF_RETRY = 5
const GAIN_OF_SUCCESS = 1

/** After this many plants in a row without a reply there is no server to speak to. */
const MAX_CONNECTION_FAILURES = 20

function hasStatus(error: PlantStoreError, ...statuses: readonly number[]): boolean {
  return 'status' in error && statuses.includes(error.status as number)
}

function isFatal(error: PlantStoreError): boolean {
  const isOfAll = error instanceof PlantStoreConfigError || error instanceof PlantStoreAbortError
  return isOfAll || hasStatus(error, 401, 403)
}

/**
 * The speed of a bulk: how many plants at once, how long to pause, how many retries are left, and
 * whether to go on at all. A 429 or 503 pauses every call and halves the speed, once for all the
 * calls that were on their way together.
 */
export class Pace {
  readonly #runtime: Runtime
  readonly #maxConcurrency: number
  readonly #isAdaptive: boolean
  #concurrency: number
  #repliesSinceHalved = Number.POSITIVE_INFINITY
  #inFlightWhenHalved = 0
  #pausedUntil = Number.NEGATIVE_INFINITY
  #successes = 0
  #budget = BUDGET
  #connectionFailures = 0
  #fatal: PlantStoreError | undefined

  constructor(runtime: Runtime, maxConcurrency: number, isAdaptive: boolean) {
    this.#runtime = runtime
    this.#maxConcurrency = maxConcurrency
    this.#isAdaptive = isAdaptive
    this.#concurrency = maxConcurrency
  }

  /** How many plants may be on their way at once. */
  get concurrency(): number {
    return this.#concurrency
  }

  /** Why no further plant should be sent; undefined while they should. */
  get fatal(): PlantStoreError | undefined {
    return this.#fatal
  }

  /** How long nothing should be sent, in milliseconds. */
  get pauseMs(): number {
    return this.#pausedUntil - this.#runtime.now()
  }

  /** Called for each attempt that failed, with what follows by the rules of a single call. */
  onFailure(error: PlantStoreError, decision: RetryDecision): void {
    this.#repliesSinceHalved++
    if (!hasStatus(error, 429, 503)) return
    // A wait beyond the cap is not slept, and to go on is what the server asked not to do.
    if ('refusal' in decision && decision.refusal === 'wait_too_long') {
      this.#fatal ??= error
      return
    }
    const ownMs = retryAfterOf(error) || backoffMs(0, this.#runtime.random())
    const delayMs = 'delayMs' in decision ? decision.delayMs : ownMs
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#runtime.now() + delayMs)
    if (this.#isAdaptive && this.#repliesSinceHalved > this.#inFlightWhenHalved) this.#halve()
  }

  #halve(): void {
    this.#inFlightWhenHalved = this.#concurrency
    this.#repliesSinceHalved = 0
    this.#successes = 0
    this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2))
  }

  /**
   * Takes a retry from what is left of them; false where none is. A 429 costs nothing: the server is
   * well, and has said when to come back.
   */
  takeRetry(error: PlantStoreError): boolean {
    if (hasStatus(error, 429)) return true
    if (this.#budget < COST_OF_RETRY) return false
    this.#budget -= COST_OF_RETRY
    return true
  }

  /** A plant is stored. */
  onSuccess(): void {
    this.#repliesSinceHalved++
    this.#connectionFailures = 0
    this.#budget = Math.min(BUDGET, this.#budget + GAIN_OF_SUCCESS)
    if (++this.#successes % SUCCESSES_PER_STEP === 0) {
      this.#concurrency = Math.min(this.#maxConcurrency, this.#concurrency + 1)
    }
  }

  /** A plant is given up. */
  onGivenUp(error: PlantStoreError): void {
    // Nothing was sent, which says nothing of the server.
    if (error.attempts === 0 && error.code === 'invalid_plant') return
    const isLost = error instanceof PlantStoreConnectionError
    this.#connectionFailures = isLost ? this.#connectionFailures + 1 : 0
    if (isFatal(error) || this.#connectionFailures >= MAX_CONNECTION_FAILURES) this.#fatal ??= error
  }
}
