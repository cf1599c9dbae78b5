import { headerNames, REPLAYED } from '@plant-store/contract'
import { type BulkState, type PlantCreator, RowSender } from './bulk.ts'
import type { CreatePlantResult } from './client.ts'
import type { NewPlantInput } from './contract-types.ts'
import { onAbort } from './deadline.ts'
import { abortError, optionError, type PlantStoreError } from './errors.ts'
import { notify } from './events.ts'
import { type CreatePlantOptions, checkOptions, optionTable } from './options.ts'

/** How far a bulk has come; all counts are in plants. */
export interface CreatePlantsProgress {
  /** Plants that were sent and have a result. */
  readonly sent: number
  /** Plants that were stored. */
  readonly stored: number
  /** Plants that the server had before its one request; after several its own may have stored it. */
  readonly alreadyThere: number
  /** Plants that came back with an error of their own, rather than with what ended the bulk. */
  readonly rejected: number
  /**
   * Where to go on after a crash: each plant with a lower index has a result, and the loop has asked
   * for another one since. A plant that failed with what ended the bulk is not passed.
   */
  readonly settledRows: number
  /** What the bulk does just now. */
  readonly state: BulkState
}

/**
 * Options of a bulk; those of a single call hold for each plant. An outage counts neither towards
 * `maxRetries`, even where it is 0, nor towards `totalTimeoutMs`. A request id is for one call.
 */
export interface CreatePlantsOptions extends Omit<CreatePlantOptions, 'requestId'> {
  /** How many plants at most are on their way, or waiting to be taken, at once. Default: 16. */
  readonly concurrency?: number | undefined
  /**
   * How long an outage may last, from the first failure to the next response; then the error of the
   * last request ends the loop. Default: 300,000.
   */
  readonly maxOutageMs?: number | undefined
  /** Called about ten times a second, at each change of state, and at the end. Default: none. */
  readonly onProgress?: ((progress: CreatePlantsProgress) => unknown) | undefined
}

/** What became of one plant of a bulk. */
export type CreatePlantsResult<Input extends NewPlantInput = NewPlantInput> = CreatePlantResult & {
  /** Where the plant stood in the source, from 0. */
  readonly index: number
  /** The plant as the source gave it. */
  readonly input: Input
}

/** Plants, as an array, a generator, or a stream of them. */
type PlantSource<Input extends NewPlantInput> = Iterable<Input> | AsyncIterable<Input>

/** The results of a bulk. */
type Results<Input extends NewPlantInput> = AsyncGenerator<CreatePlantsResult<Input>, void>

/** After so many rows in a row that were given up without a word of the server there is none. */
const MAX_LOST = 20

const MIN_INTERVAL_MS = 100

/** Whether the error is one that every plant would meet, now and later. */
function isFatal({ code, option, status }: PlantStoreError): boolean {
  return code === 'aborted' || code === 'forbidden' || option !== undefined || status === 401
}

/** A bulk under way: reads, sends, and keeps what came of it until it is taken. */
class Bulk<Input extends NewPlantInput> {
  readonly #plants: Iterator<Input> | AsyncIterator<Input>
  readonly #concurrency: number
  readonly #sender: RowSender
  #onProgress: CreatePlantsOptions['onProgress']
  /** Ends the calls on their way. */
  readonly #aborted = new AbortController()
  readonly #leave: () => void
  readonly #results: CreatePlantsResult<Input>[] = []
  readonly #counts = { sent: 0, stored: 0, alreadyThere: 0, rejected: 0, settledRows: 0 }
  /** Rows beyond the settled ones whose results are taken. */
  readonly #taken = new Set<number>()
  #notifiedAt = Number.NEGATIVE_INFINITY
  #lost = 0
  #index = 0
  #inFlight = 0
  #isReading = false
  #isRead = false
  #failure: { readonly reason: unknown } | undefined
  #wake = () => {}

  constructor(client: PlantCreator, source: PlantSource<Input>, options: CreatePlantsOptions) {
    const { concurrency = optionTable.concurrency.initial, onProgress, signal, ...others } = options
    const { maxOutageMs = optionTable.maxOutageMs.initial, ...call } = others
    this.#concurrency = concurrency
    const { [Symbol.asyncIterator]: openAsync } = source as Partial<AsyncIterable<Input>>
    this.#plants = openAsync?.call(source) ?? (source as Iterable<Input>)[Symbol.iterator]()
    this.#onProgress = onProgress
    const callOptions = { ...call, signal: this.#aborted.signal }
    this.#sender = new RowSender(client, callOptions, maxOutageMs, () => this.#notify(true))
    const abort = () => {
      // The plants before it have results of their own; together they are no longer certain.
      this.#fail(abortError(signal?.reason, this.#index === 0 ? 'no' : 'maybe'))
      this.#aborted.abort(signal?.reason)
    }
    this.#leave = onAbort(signal, abort)
    if (signal?.aborted) abort()
  }

  /** Wakes the loop, and notifies the listener where a state has changed or enough time has passed. */
  #notify(isDue = false): void {
    this.#wake()
    const now = performance.now()
    if (!isDue && now < this.#notifiedAt + MIN_INTERVAL_MS) return
    this.#notifiedAt = now
    notify(this.#onProgress, { ...this.#counts, state: this.#sender.state })
  }

  /** Reads and sends nothing more; the loop throws this once the results are taken. */
  #fail(reason: unknown): void {
    this.#failure ??= { reason }
    this.#sender.end()
  }

  /** Reads one plant more, and sends it. */
  async #read(): Promise<void> {
    this.#isReading = true
    try {
      const { done, value } = await this.#plants.next()
      if (done) this.#isRead = true
      else if (!this.#sender.isOver) void this.#send(value)
    } catch (reason) {
      this.#isRead = true
      this.#fail(reason)
    }
    this.#isReading = false
    this.#wake()
  }

  async #send(input: Input): Promise<void> {
    const index = this.#index++
    this.#inFlight++
    try {
      const result = await this.#sender.store(input)
      this.#note(result)
      this.#results.push({ index, input, ...result })
    } catch (reason) {
      this.#fail(reason)
    }
    this.#inFlight--
    this.#notify()
  }

  /** Whether a plant failed with what ended the bulk, so that it may be stored by a later one. */
  #isUnfinished(result: CreatePlantResult): boolean {
    if (result.ok || !this.#sender.isOver) return false
    return result.error.retryable || isFatal(result.error)
  }

  /** Counts a result, and ends the bulk where it says that no other plant will fare better. */
  #note(result: CreatePlantResult): void {
    const { attempts, headers } = result.meta
    const error = result.ok ? undefined : result.error
    if (error === undefined || error.apiCode !== undefined) this.#lost = 0
    // What is no plant was not sent, which says nothing of the server.
    else if (error.code !== 'invalid_plant') this.#lost++
    const isEnd = error !== undefined && (isFatal(error) || this.#lost >= MAX_LOST)
    if (isEnd && !this.#sender.isOver) this.#fail(error)
    if (attempts > 0) this.#counts.sent++
    if (this.#isUnfinished(result)) return
    const isReplayed = headers?.get(headerNames.idempotentReplayed) === REPLAYED
    const stored = isReplayed && attempts === 1 ? 'alreadyThere' : 'stored'
    this.#counts[result.ok ? stored : 'rejected']++
  }

  /** Gives the results, and throws what has ended the bulk before its source. */
  async *run(): Results<Input> {
    try {
      while (!(this.#isRead || this.#sender.isOver) || this.#inFlight + this.#results.length > 0) {
        const changed = new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        const isFull = this.#inFlight + this.#results.length >= this.#concurrency
        if (!isFull && !this.#isReading && !this.#isRead && !this.#sender.isOver) void this.#read()
        const result = this.#results.shift()
        if (result === undefined) await changed
        else {
          yield result
          if (!this.#isUnfinished(result)) this.#taken.add(result.index)
          while (this.#taken.delete(this.#counts.settledRows)) this.#counts.settledRows++
        }
      }
      const { failure } = this.#sender
      this.#failure ??= failure && { reason: failure }
      if (this.#failure !== undefined) throw this.#failure.reason
    } finally {
      await this.#close()
    }
  }

  /** Ends what is under way, lets go of the signal and the timers, and closes the source. */
  async #close(): Promise<void> {
    this.#sender.end()
    this.#notify(true)
    this.#onProgress = undefined
    this.#leave()
    this.#aborted.abort()
    if (this.#isRead) return
    const closed = (async () => this.#plants.return?.())()
    // What has ended the bulk says more than what its source throws at its end.
    const ended = this.#failure || this.#isReading ? closed.catch(() => {}) : closed
    // A source that is still at its next plant may take for ever.
    if (!this.#isReading) await ended
  }
}

/**
 * Stores many plants, some at once, and gives each result as soon as it is there, in any order; a
 * plant that is refused is a result like any other. It reads no further ahead than `concurrency`.
 *
 * An outage fails no plant: where a connection fails, a request is not answered in time, or a 429,
 * 502, 503 or 504 comes, all plants wait until the server is there again. A plant that fails three
 * times while the server is there has failed for what it holds, and is given up as a result.
 *
 * What concerns every plant ends the loop once the calls on their way have ended and their results
 * are taken: a token that is missing or refused (401, 403), an abort, an outage longer than
 * `maxOutageMs`, 20 plants in a row that got no word of the server. A plant that came with no result,
 * or with 0 attempts, was then not sent. Leaving the loop early aborts the calls on their way.
 * @throws PlantStoreError at once for options that cannot work; in the loop, at its end, the one that
 * ended it, or what the source threw.
 */
export function createPlants<Input extends NewPlantInput>(
  client: PlantCreator,
  source: PlantSource<Input>,
  options: CreatePlantsOptions = {},
): Results<Input> {
  checkOptions(options, 'bulk')
  const { [Symbol.iterator]: iterate, [Symbol.asyncIterator]: iterateAsync } = Object(source)
  if (typeof source !== 'object' || (iterate ?? iterateAsync) === undefined) {
    throw optionError('source', 'must be iterable')
  }
  // The source is opened with the first result that is asked for.
  return (async function* () {
    yield* new Bulk(client, source, options).run()
  })()
}
