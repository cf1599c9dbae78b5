import {
  type CreatePlantsOptions,
  type CreatePlantsResult,
  DEFAULT_CONCURRENCY,
  DEFAULT_MAX_OUTAGE_MS,
  type PlantCreator,
  type PlantSource,
} from './bulk-options.ts'
import type { NewPlantInput } from './contract-types.ts'
import { PlantStoreAbortError } from './errors/abort-error.ts'
import { onAbort } from './on-abort.ts'
import { Pace } from './pace.ts'
import { PACER, type PacedOptions } from './pacer.ts'
import { Progress } from './progress.ts'
import type { Runtime } from './runtime.ts'

/**
 * So far at most the bulk runs ahead of the first plant whose result is not taken: a program that
 * starts again at a checkpoint sends no more than these once more.
 */
const MAX_AHEAD = 4_096

function openSource<Input extends NewPlantInput>(
  source: PlantSource<Input>,
): Iterator<Input> | AsyncIterator<Input> {
  const { [Symbol.asyncIterator]: openAsync } = source as Partial<AsyncIterable<Input>>
  return openAsync?.call(source) ?? (source as Iterable<Input>)[Symbol.iterator]()
}

/** A bulk under way: reads, sends, and keeps what came of it until it is taken. */
export class Bulk<Input extends NewPlantInput> {
  readonly #client: PlantCreator
  readonly #plants: Iterator<Input> | AsyncIterator<Input>
  readonly #options: PacedOptions
  readonly #pace: Pace
  readonly #progress: Progress
  readonly #maxAhead: number
  readonly #aborted = new AbortController()
  readonly #leave: () => void
  readonly #results: CreatePlantsResult<Input>[] = []
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
    const {
      concurrency = DEFAULT_CONCURRENCY,
      adaptive = true,
      maxOutageMs = DEFAULT_MAX_OUTAGE_MS,
      onProgress,
      signal,
      ...callOptions
    } = options
    this.#client = client
    this.#maxAhead = Math.max(MAX_AHEAD, concurrency)
    this.#pace = new Pace(runtime, {
      concurrency,
      isAdaptive: adaptive,
      maxOutageMs,
      onChange: () => {
        this.#wake()
        this.#progress.onChange()
      },
      onSent: () => this.#progress.onSent(),
    })
    this.#progress = new Progress(runtime, onProgress, () => this.#pace.state)
    this.#options = { ...callOptions, signal: this.#aborted.signal, [PACER]: this.#pace }
    this.#plants = openSource(source)
    const abort = () => this.#abort(signal?.reason)
    this.#leave = signal === undefined ? () => {} : onAbort(signal, abort)
    if (signal?.aborted) abort()
  }

  #abort(reason: unknown): void {
    // The plants before it have results of their own; together they are no longer certain.
    this.#fail(new PlantStoreAbortError(reason, this.#index === 0 ? 'no' : 'maybe'))
    this.#aborted.abort(reason)
  }

  #fail(reason: unknown): void {
    this.#failure ??= { reason }
    this.#wake()
  }

  get #hasFailed(): boolean {
    return this.#failure !== undefined || this.#pace.fatal !== undefined
  }

  get #hasEnded(): boolean {
    return this.#isRead || this.#hasFailed
  }

  /** Starts reading one plant more, if there is room. */
  #advance(): void {
    const taken = this.#inFlight + this.#results.length
    if (this.#hasEnded || this.#isReading || taken >= this.#pace.concurrency) return
    if (this.#index - this.#progress.settledRows >= this.#maxAhead) return
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
      const result = await this.#client.tryCreatePlant(input, this.#options)
      if (!result.ok) this.#pace.onGivenUp(result.error)
      this.#progress.onResult(index, result, this.#hasFailed)
      this.#results.push({ index, input, ...result })
    } catch (reason) {
      this.#fail(reason)
    } finally {
      this.#inFlight--
      this.#wake()
    }
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

  /** Ends what is under way, lets go of the signal and the timer, and closes the source. */
  async close(): Promise<void> {
    this.#pace.close()
    this.#progress.close()
    this.#leave()
    this.#aborted.abort()
    if (this.#isRead) return
    const closed = (async () => this.#plants.return?.())()
    // What has ended the bulk says more than what its source throws at its end.
    const ended = this.#hasFailed || this.#isReading ? closed.catch(() => {}) : closed
    // A source that is still at its next plant may take for ever.
    if (!this.#isReading) await ended
  }

  /** @throws what ended the bulk before its source did. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.reason
    if (this.#pace.fatal !== undefined) throw this.#pace.fatal
  }
}
