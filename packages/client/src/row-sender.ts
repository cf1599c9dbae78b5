import { nextApplied } from './applied.ts'
import { type CallOptions, GIVES_BACK } from './call.ts'
import type { CreatePlantResult, PlantStoreClient } from './client.ts'
import type { NewPlantInput } from './contract-types.ts'
import { type Applied, completeError, type PlantStoreError } from './errors.ts'
import { isOutage, mayBeOwn, Outage, type OutageOptions } from './outage.ts'
import { backoffMs } from './retry.ts'

/** The part of a client that a bulk uses. */
export type PlantCreator = Pick<PlantStoreClient, 'tryCreatePlant' | 'checkToken'>

/** So often a row may fail while the server is there; then that is for what it holds. */
const MAX_OWN_FAILURES = 3

/** What is known of a row while it is sent again and again. */
interface Row {
  readonly startedAt: number
  attempts: number
  applied: Applied
  /** How often it has failed for what it holds, as far as can be known. */
  ownFailures: number
}

/** Sends the rows of a bulk, each until it has a result of its own; all wait together in an outage. */
export class RowSender {
  readonly outage: Outage
  readonly #client: PlantCreator
  readonly #callOptions: CallOptions
  readonly #options: Omit<OutageOptions, 'probe'>
  /** A plant that is stored: to send it again can fail only because the server is away. */
  #storedPlant: NewPlantInput | undefined

  constructor(
    client: PlantCreator,
    callOptions: CallOptions,
    options: Omit<OutageOptions, 'probe'>,
  ) {
    this.#client = client
    this.#callOptions = { ...callOptions, [GIVES_BACK]: isOutage }
    this.#options = options
    this.outage = new Outage({ ...options, probe: () => this.#probe() })
  }

  /** Sends a plant until there is a response, or it has failed for what it holds, or the bulk has ended. */
  async store(input: NewPlantInput, onSent: () => void): Promise<CreatePlantResult> {
    const { id } = Object(input)
    const { now } = this.#options.runtime
    const row: Row = { startedAt: now(), attempts: 0, applied: 'no', ownFailures: 0 }
    for (;;) {
      await this.outage.pass()
      const result = sumUp(row, await this.#sendOnce(input), now())
      const { attempts, status } = result.meta
      if (row.attempts === 0 && attempts > 0) onSent()
      const isAnswered = attempts > row.attempts && status !== undefined
      const mayPass = !result.ok && attempts > row.attempts && isOutage(result.error)
      if (isAnswered && !mayPass) this.outage.onResponse()
      if (result.ok) this.#storedPlant = { ...result.plant, id }
      if (!mayPass) return result
      row.attempts = attempts
      row.applied = result.error.applied
      if (await this.#isGivenUp(row, result.error)) return result
    }
  }

  /** One call, which gives an outage back; none where the bulk has ended while the row waited. */
  #sendOnce(input: NewPlantInput): Promise<CreatePlantResult> {
    const { isOver, failure } = this.outage
    const options = isOver ? { signal: AbortSignal.abort(failure) } : this.#callOptions
    return this.#client.tryCreatePlant(input, options)
  }

  /** Waits until the server is there; true where the row is not to be sent again. */
  async #isGivenUp(row: Row, error: PlantStoreError): Promise<boolean> {
    const { maxOutageMs, runtime } = this.#options
    const wasThere = await this.outage.inquire(error)
    if (this.outage.isOver) return true
    // While others are stored, no outage lasts too long for what the server refuses this one.
    if (!wasThere || !mayBeOwn(error)) return runtime.now() - row.startedAt > maxOutageMs
    if (++row.ownFailures === MAX_OWN_FAILURES) return true
    await this.outage.sleep(backoffMs(row.ownFailures - 1, runtime.random()))
    return false
  }

  /** Sends what nobody refuses: a plant that is stored already, or else what is never a plant. */
  async #probe(): Promise<PlantStoreError | undefined> {
    const options = { ...this.#callOptions, maxRetries: 0 }
    let error: unknown
    if (this.#storedPlant === undefined) {
      error = await this.#client.checkToken(options).catch((thrown: unknown) => thrown)
    } else {
      const result = await this.#client.tryCreatePlant(this.#storedPlant, options)
      error = result.ok ? undefined : result.error
    }
    return error !== undefined && isOutage(error as PlantStoreError)
      ? (error as PlantStoreError)
      : undefined
  }
}

/** A result whose facts are those of all calls for the row. */
function sumUp(row: Row, result: CreatePlantResult, now: number): CreatePlantResult {
  const attempts = row.attempts + result.meta.attempts
  const meta = { ...result.meta, attempts, durationMs: now - row.startedAt }
  if (result.ok) return { ...result, meta }
  const applied = nextApplied(row.applied, result.error)
  return { ...result, error: completeError(result.error, { applied, attempts }), meta }
}
