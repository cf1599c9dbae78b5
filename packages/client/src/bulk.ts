import { nextApplied } from './applied.ts'
import {
  type CreatePlantsOptions,
  type CreatePlantsResult,
  DEFAULT_CONCURRENCY,
  DEFAULT_MAX_OUTAGE_MS,
  type PlantCreator,
  type PlantSource,
} from './bulk-options.ts'
import { type CallOptions, GIVES_BACK } from './call.ts'
import type { CreatePlantResult } from './client.ts'
import type { NewPlantInput } from './contract-types.ts'
import { onAbort } from './deadline.ts'
import { type Applied, abortError, completeError, type PlantStoreError } from './errors.ts'
import { isOutage, mayBeOwn, Outage } from './outage.ts'
import { Progress } from './progress.ts'
import { backoffMs } from './retry.ts'
import type { Runtime } from './runtime.ts'

/**
 * So far at most the bulk runs ahead of the first plant whose result is not taken: a program that
 * starts again at a checkpoint sends no more than these once more.
 */
const MAX_AHEAD = 4_096

/** So often a row may fail while the server is there; then that is for what it holds. */
const MAX_OWN_FAILURES = 3

/** After so many rows in a row that were given up without a word of the server there is none. */
const MAX_LOST = 20

/** Whether the error is one that every plant would meet, now and later. */
function isFatal({ code, option, status }: PlantStoreError): boolean {
  const isOfAll = code === 'aborted' || code === 'unauthorized' || code === 'forbidden'
  return isOfAll || option !== undefined || status === 401
}

function openSource<Input extends NewPlantInput>(
  source: PlantSource<Input>,
): Iterator<Input> | AsyncIterator<Input> {
  const { [Symbol.asyncIterator]: openAsync } = source as Partial<AsyncIterable<Input>>
  return openAsync?.call(source) ?? (source as Iterable<Input>)[Symbol.iterator]()
}

/** What is known of a row while it is sent again and again. */
interface Row {
  readonly startedAt: number
  attempts: number
  applied: Applied
  /** How often it has failed for what it holds, as far as can be known. */
  ownFailures: number
}

/** A bulk under way: reads, sends, and keeps what came of it until it is taken. */
export class Bulk<Input extends NewPlantInput> {
  readonly #runtime: Runtime
  readonly #client: PlantCreator
  readonly #plants: Iterator<Input> | AsyncIterator<Input>
  readonly #options: CallOptions
  readonly #concurrency: number
  readonly #maxOutageMs: number
  readonly #outage: Outage
  readonly #progress: Progress
  readonly #aborted = new AbortController()
  readonly #leave: () => void
  readonly #results: CreatePlantsResult<Input>[] = []
  /** A plant that is stored: to send it again can fail only because the server is away. */
  #storedPlant: NewPlantInput | undefined
  #lost = 0
  #index = 0
  #inFlight = 0
  #isReading = false
  #isRead = false
  #failure: { readonly reason: unknown } | undefined
  #wake = () => {}

  constructor(
    client: PlantCreator,
    source: PlantSource<Input>,
    options: CreatePlantsOptions,
    runtime: Runtime,
  ) {
    const { concurrency = DEFAULT_CONCURRENCY, maxOutageMs = DEFAULT_MAX_OUTAGE_MS } = options
    const { concurrency: _, maxOutageMs: __, onProgress, signal, ...callOptions } = options
    this.#runtime = runtime
    this.#client = client
    this.#concurrency = concurrency
    this.#maxOutageMs = maxOutageMs
    const probe = () => this.#probe()
    const onChange = () => {
      this.#progress.onChange()
      this.#wake()
    }
    this.#outage = new Outage({ runtime, maxOutageMs, probe, onChange })
    this.#progress = new Progress(runtime, onProgress, () => this.#outage.state)
    this.#options = { ...callOptions, signal: this.#aborted.signal, [GIVES_BACK]: isOutage }
    this.#plants = openSource(source)
    const abort = () => {
      // The plants before it have results of their own; together they are no longer certain.
      this.#fail(abortError(signal?.reason, this.#index === 0 ? 'no' : 'maybe'))
      this.#aborted.abort(signal?.reason)
    }
    this.#leave = onAbort(signal, abort)
    if (signal?.aborted) abort()
  }

  /** Reads and sends nothing more; the loop throws this once the results are taken. */
  #fail(reason: unknown): void {
    this.#failure ??= { reason }
    this.#outage.end()
    this.#wake()
  }

  get #hasEnded(): boolean {
    return this.#isRead || this.#outage.isOver
  }

  /** Starts reading one plant more, if there is room. */
  #advance(): void {
    const taken = this.#inFlight + this.#results.length
    if (this.#hasEnded || this.#isReading || taken >= this.#concurrency) return
    const ahead = this.#index - this.#progress.settledRows
    if (ahead >= Math.max(MAX_AHEAD, this.#concurrency)) return
    this.#isReading = true
    void this.#read()
  }

  async #read(): Promise<void> {
    try {
      const { done, value } = await this.#plants.next()
      if (done) this.#isRead = true
      else if (!this.#hasEnded) void this.#send(value)
    } catch (reason) {
      this.#isRead = true
      this.#fail(reason)
    } finally {
      this.#isReading = false
      this.#wake()
    }
  }

  async #send(input: Input): Promise<void> {
    const index = this.#index++
    this.#inFlight++
    try {
      const result = await this.#store(input)
      const mayPass = !result.ok && (result.error.retryable || isFatal(result.error))
      if (!result.ok) this.#onGivenUp(result.error)
      this.#progress.onResult(index, result, mayPass && this.#outage.isOver)
      this.#results.push({ index, input, ...result })
    } catch (reason) {
      this.#fail(reason)
    } finally {
      this.#inFlight--
      this.#wake()
    }
  }

  /** Sends a plant until there is a response, or it has failed for what it holds, or the bulk has ended. */
  async #store(input: Input): Promise<CreatePlantResult> {
    const { id } = Object(input)
    const row: Row = { startedAt: this.#runtime.now(), attempts: 0, applied: 'no', ownFailures: 0 }
    for (;;) {
      await this.#outage.pass()
      const result = sumUp(row, await this.#sendOnce(input), this.#runtime.now())
      if (row.attempts === 0 && result.meta.attempts > 0) this.#progress.onSent()
      if (result.ok) {
        this.#storedPlant = { ...result.plant, id }
        this.#lost = 0
        this.#outage.onResponse()
        return result
      }
      const { error } = result
      if (error.attempts === row.attempts || !isOutage(error)) {
        if (error.status !== undefined) this.#outage.onResponse()
        return result
      }
      row.attempts = error.attempts
      row.applied = error.applied
      if (await this.#isGivenUp(row, error)) return result
    }
  }

  /** One call, which gives an outage back; none where the bulk has ended while the row waited. */
  #sendOnce(input: Input): Promise<CreatePlantResult> {
    const signal = this.#outage.isOver ? AbortSignal.abort(this.failure?.reason) : undefined
    return this.#client.tryCreatePlant(input, signal ? { signal } : this.#options)
  }

  /** Waits until the server is there; true where the row is not to be sent again. */
  async #isGivenUp(row: Row, error: PlantStoreError): Promise<boolean> {
    const wasThere = await this.#outage.inquire(error)
    if (this.#outage.isOver) return true
    if (!wasThere || !mayBeOwn(error)) {
      // While others are stored, no outage lasts too long for what the server refuses this one.
      return this.#runtime.now() - row.startedAt > this.#maxOutageMs
    }
    if (++row.ownFailures === MAX_OWN_FAILURES) return true
    await this.#outage.sleep(backoffMs(row.ownFailures - 1, this.#runtime.random()))
    return false
  }

  /** Sends what nobody refuses: a plant that is stored already, or else what is never a plant. */
  async #probe(): Promise<PlantStoreError | undefined> {
    const options = { ...this.#options, maxRetries: 0 }
    try {
      if (this.#storedPlant === undefined) await this.#client.checkToken(options)
      else await this.#client.tryCreatePlant(this.#storedPlant, options).then(throwFailure)
    } catch (error) {
      if (isOutage(error as PlantStoreError)) return error as PlantStoreError
    }
    return undefined
  }

  #onGivenUp(error: PlantStoreError): void {
    // Nothing was sent, which says nothing of the server.
    if (this.#outage.isOver || (error.attempts === 0 && error.code === 'invalid_plant')) return
    this.#lost = error.apiCode === undefined ? this.#lost + 1 : 0
    if (isFatal(error) || this.#lost >= MAX_LOST) this.#fail(error)
  }

  /** The next result, once there is one; undefined at the end. */
  async next(): Promise<CreatePlantsResult<Input> | undefined> {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#advance()
      const result = this.#results.shift()
      if (result !== undefined || (this.#hasEnded && this.#inFlight === 0)) return result
      await changed
    }
  }

  /** The loop asks for another result after this one. */
  pass({ index }: CreatePlantsResult<Input>): void {
    this.#progress.onTaken(index)
  }

  /** Ends what is under way, lets go of the signal and the timers, and closes the source. */
  async close(): Promise<void> {
    this.#progress.close()
    this.#outage.end()
    this.#leave()
    this.#aborted.abort()
    if (this.#isRead) return
    const closed = (async () => this.#plants.return?.())()
    // What has ended the bulk says more than what its source throws at its end.
    const ended = this.failure !== undefined || this.#isReading ? closed.catch(() => {}) : closed
    // A source that is still at its next plant may take for ever.
    if (!this.#isReading) await ended
  }

  /** What ended the bulk before its source did. */
  get failure(): { readonly reason: unknown } | undefined {
    const outage = this.#outage.failure
    return this.#failure ?? (outage && { reason: outage })
  }
}

function throwFailure(result: CreatePlantResult): void {
  if (!result.ok) throw result.error
}

/** A result whose facts are those of all calls for the row. */
function sumUp(row: Row, result: CreatePlantResult, now: number): CreatePlantResult {
  const attempts = row.attempts + result.meta.attempts
  const meta = { ...result.meta, attempts, durationMs: now - row.startedAt }
  if (result.ok) return { ...result, meta }
  const applied = nextApplied(row.applied, result.error)
  return { ...result, error: completeError(result.error, { applied, attempts }), meta }
}
