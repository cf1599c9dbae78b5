import type { CreatePlantResult, PlantStoreClient } from './client.ts'
import type { NewPlantInput } from './contract-types.ts'
import { PlantStoreAbortError } from './errors/abort-error.ts'
import { PlantStoreConfigError } from './errors/config-error.ts'
import { onAbort } from './on-abort.ts'
import {
  type CreatePlantOptions,
  callRules,
  checkOptions,
  isFunction,
  isTime,
  type Rules,
  TIME,
} from './options.ts'
import { Pace } from './pace.ts'
import { PACER, type PacedOptions } from './pacer.ts'
import { type CreatePlantsProgress, Progress } from './progress.ts'
import { type Runtime, systemRuntime } from './runtime.ts'

/** Options of a bulk; those of a single call hold for each plant. */
export interface CreatePlantsOptions extends CreatePlantOptions {
  /** How many plants at most are on their way, or waiting to be taken, at once. Default: 16. */
  readonly concurrency?: number | undefined
  /** Whether a 429 or 503 halves the concurrency, to grow again with success. Default: true. */
  readonly adaptive?: boolean | undefined
  /**
   * How long at most to wait for a server that is gone or asks to wait, in milliseconds; then the
   * error of the last request ends the loop. 0 means that no outage is outlived. Default: 300,000.
   */
  readonly maxOutageMs?: number | undefined
  /**
   * Called with the progress at most about ten times a second, at each change of state, and at the
   * end. What it throws or returns changes nothing.
   */
  readonly onProgress?: ((progress: CreatePlantsProgress) => unknown) | undefined
}

/** What became of one plant of a bulk: where it stood in the source, from 0, and the plant as given. */
export type CreatePlantsResult<Input extends NewPlantInput = NewPlantInput> = CreatePlantResult & {
  readonly index: number
  readonly input: Input
}

/** Plants, as an array, a generator, or a stream of them. */
export type PlantSource<Input extends NewPlantInput = NewPlantInput> =
  | Iterable<Input>
  | AsyncIterable<Input>

/** The part of a client that a bulk uses. */
type PlantCreator = Pick<PlantStoreClient, 'tryCreatePlant'>

const bulkRules: Rules = {
  ...callRules,
  concurrency: [
    (value) => Number.isSafeInteger(value) && Number(value) > 0,
    'must be an integer above 0',
  ],
  adaptive: [(value) => typeof value === 'boolean', 'must be a boolean'],
  maxOutageMs: [(value) => isTime(value) || value === 0, `${TIME}, or 0`],
  onProgress: [isFunction, 'must be a function'],
}

/** 2 cores were kept busy by 16 calls; slower networks gain from more. */
const DEFAULT_CONCURRENCY = 16

function openSource<Input extends NewPlantInput>(
  source: PlantSource<Input>,
): Iterator<Input> | AsyncIterator<Input> {
  const { [Symbol.asyncIterator]: openAsync } = source as Partial<AsyncIterable<Input>>
  return openAsync?.call(source) ?? (source as Iterable<Input>)[Symbol.iterator]()
}

/** A bulk under way: reads, sends, and keeps what came of it until it is taken. */
class Bulk<Input extends NewPlantInput> {
  readonly #client: PlantCreator
  readonly #plants: Iterator<Input> | AsyncIterator<Input>
  readonly #options: PacedOptions
  readonly #pace: Pace
  readonly #progress: Progress
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
    client: PlantCreator,
    source: PlantSource<Input>,
    options: CreatePlantsOptions,
    runtime: Runtime,
  ) {
    const {
      concurrency = DEFAULT_CONCURRENCY,
      adaptive = true,
      maxOutageMs: _,
      onProgress,
      signal,
      ...callOptions
    } = options
    this.#client = client
    this.#runtime = runtime
    this.#pace = new Pace(runtime, concurrency, adaptive)
    this.#progress = new Progress(runtime, onProgress, () => ({ type: 'running' }))
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
      this.#progress.onSent()
      this.#progress.onResult(result)
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
    this.#stopPause?.()
    this.#progress.close()
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
/** The results of a bulk, as createPlants gives them. */
type Results<Input extends NewPlantInput> = AsyncGenerator<
  CreatePlantsResult<Input>,
  void,
  undefined
>

async function* takeResults<Input extends NewPlantInput>(open: () => Bulk<Input>): Results<Input> {
  const bulk = open()
  try {
    for (let result = await bulk.next(); result !== undefined; result = await bulk.next()) {
      yield result
      bulk.pass(result)
    }
    bulk.throwFailure()
  } finally {
    await bulk.close()
  }
}

/** The same as createPlants, with its clock, timers and chance taken from `runtime`. */
export function createPlantsWith<Input extends NewPlantInput>(
  client: PlantCreator,
  source: PlantSource<Input>,
  options: CreatePlantsOptions,
  runtime: Runtime,
): Results<Input> {
  checkOptions(options, bulkRules)
  const { [Symbol.iterator]: iterate, [Symbol.asyncIterator]: iterateAsync } = Object(source)
  if (typeof source !== 'object' || (iterate ?? iterateAsync) === undefined) {
    throw new PlantStoreConfigError('invalid_option', 'source', 'must be iterable')
  }
  return takeResults(() => new Bulk(client, source, options, runtime))
}

/**
 * Stores many plants, some at once, and gives each result as soon as it is there, in any order.
 * A plant that is refused is a result like any other. It reads no further ahead than `concurrency`;
 * a 429 or 503 pauses all calls and halves their number; retries come out of one budget.
 *
 * What concerns every plant ends the loop once the calls on their way have ended and their results
 * are taken: a token that is missing or refused (401, 403), an abort, a Retry-After beyond
 * the client's limit, 20 plants in a row without a reply. A plant that came with no result was
 * then not sent. Leaving the loop early aborts the calls on their way.
 * @throws PlantStoreConfigError at once for options that cannot work; in the loop, at its end, the
 * PlantStoreError that ended it, or what the source threw.
 */
export function createPlants<Input extends NewPlantInput>(
  client: PlantCreator,
  source: PlantSource<Input>,
  options: CreatePlantsOptions = {},
): Results<Input> {
  return createPlantsWith(client, source, options, systemRuntime)
}
