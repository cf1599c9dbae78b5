import type { PlantStoreClient } from './client.ts'
import { PlantStoreAbortError } from './connection-errors.ts'
import type { NewPlantInput } from './contract-types.ts'
import type { CreatePlantsOptions, CreatePlantsResult, PlantSource } from './create-plants.ts'
import { onAbort } from './on-abort.ts'
import { Pace } from './pace.ts'
import { PACER, type PacedOptions } from './pacer.ts'
import type { Runtime } from './runtime.ts'

/** 2 cores were kept busy by 16 calls; slower networks gain from more. */
const DEFAULT_CONCURRENCY = 16

function openSource<Input extends NewPlantInput>(
  source: PlantSource<Input>,
): Iterator<Input> | AsyncIterator<Input> {
  const { [Symbol.asyncIterator]: openAsync } = source as Partial<AsyncIterable<Input>>
  return openAsync?.call(source) ?? (source as Iterable<Input>)[Symbol.iterator]()
}

/** A bulk under way: reads, sends, and keeps what came of it until it is taken. */
export class Bulk<Input extends NewPlantInput> {
  readonly #client: Pick<PlantStoreClient, 'tryCreatePlant'>
  readonly #plants: Iterator<Input> | AsyncIterator<Input>
  readonly #options: PacedOptions
  readonly #pace: Pace
  readonly #runtime: Runtime
  readonly #aborted = new AbortController()
  readonly #leave: () => void
  readonly #results: CreatePlantsResult<Input>[] = []
  #index = 0
  #inFlight = 0
  #isReading = false
  #isRead = false
  #failure: { readonly reason: unknown } | undefined
  #wake = () => {}
  #stopPause: (() => void) | undefined

  constructor(
    client: Pick<PlantStoreClient, 'tryCreatePlant'>,
    source: PlantSource<Input>,
    options: CreatePlantsOptions,
    runtime: Runtime,
  ) {
    const { concurrency = DEFAULT_CONCURRENCY, adaptive = true, signal, ...callOptions } = options
    this.#client = client
    this.#runtime = runtime
    this.#pace = new Pace(runtime, concurrency, adaptive)
    this.#options = { ...callOptions, signal: this.#aborted.signal, [PACER]: this.#pace }
    this.#plants = openSource(source)
    const abort = () => this.#abort(signal?.reason)
    this.#leave = signal === undefined ? () => {} : onAbort(signal, abort)
    if (signal?.aborted) abort()
  }

  #abort(reason: unknown): void {
    // Of the plants before it each result tells; together they are no longer certain.
    this.#fail(new PlantStoreAbortError(reason, this.#index === 0 ? 'no' : 'maybe'))
    this.#aborted.abort(reason)
  }

  #fail(reason: unknown): void {
    this.#failure ??= { reason }
    this.#wake()
  }

  get #hasEnded(): boolean {
    return this.#isRead || this.#failure !== undefined || this.#pace.fatal !== undefined
  }

  /** Starts reading one plant more, if there is room and no pause. */
  #advance(): void {
    const taken = this.#inFlight + this.#results.length
    if (this.#hasEnded || this.#isReading || taken >= this.#pace.concurrency) return
    const { pauseMs } = this.#pace
    if (pauseMs > 0) {
      this.#stopPause?.()
      this.#stopPause = this.#runtime.startTimer(() => this.#wake(), pauseMs)
      return
    }
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
      if (result.ok) this.#pace.onSuccess()
      else this.#pace.onGivenUp(result.error)
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

  /** Ends what is under way, lets go of the signal and the timer, and closes the source. */
  async close(): Promise<void> {
    this.#stopPause?.()
    this.#leave()
    this.#aborted.abort()
    if (this.#isRead) return
    const closed = (async () => this.#plants.return?.())()
    // What has ended the bulk says more than what its source throws at its end.
    const hasFailed = this.#failure !== undefined || this.#pace.fatal !== undefined
    const ended = hasFailed || this.#isReading ? closed.catch(() => {}) : closed
    // A source that is still at its next plant may take for ever.
    if (!this.#isReading) await ended
  }

  /** @throws what ended the bulk before its source did. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.reason
    if (this.#pace.fatal !== undefined) throw this.#pace.fatal
  }
}
