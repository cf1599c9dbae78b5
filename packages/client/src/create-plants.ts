import { nextApplied } from './applied.ts'
import { type CallOptions, GIVES_BACK } from './call.ts'
import type { CreatePlantResult, PlantStoreClient } from './client.ts'
import type { NewPlantInput } from './contract-types.ts'
import { onAbort, sleep } from './deadline.ts'
import { abortError, isPlantStoreError, optionError, type PlantStoreError } from './errors.ts'
import { createGate } from './gate.ts'
import { type CreatePlantOptions, checkOptions, optionTable } from './options.ts'
import { waitMs } from './retry.ts'

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

/** After so many plants in a row that were given up without a word of the server there is none. */
const MAX_LOST = 20

/** So often a plant may fail while the server is there; then that is for what it holds. */
const MAX_OWN_FAILURES = 3

/** Whether nobody has taken the plant, which may be because the server is away. */
function isOutage({ reason, retryable, status }: PlantStoreError): boolean {
  if (status !== undefined) return [429, 502, 503, 504].includes(status)
  return reason !== undefined && retryable
}

/** Whether every plant would meet the error, now and later. */
function isFatal({ code, option, status }: PlantStoreError): boolean {
  return code === 'aborted' || code === 'forbidden' || option !== undefined || status === 401
}

/** A bulk under way: reads, sends, and keeps what came of it until it is taken. */
class Bulk<Input extends NewPlantInput> {
  readonly #client: PlantStoreClient
  readonly #plants: Iterator<Input> | AsyncIterator<Input>
  readonly #concurrency: number
  readonly #maxOutageMs: number
  readonly #options: CallOptions
  /** Once this is aborted nothing is read or sent any more; the loop throws its reason. */
  readonly #over = new AbortController()
  /** Ends the calls on their way. */
  readonly #calls = new AbortController()
  readonly #gate: ReturnType<typeof createGate>
  readonly #leave: () => void
  readonly #results: CreatePlantsResult<Input>[] = []
  /** A plant that is stored: to send it again can fail only because the server is away. */
  #stored: NewPlantInput | undefined
  #reading: 'between' | 'within' | 'done' = 'between'
  #index = 0
  #inFlight = 0
  #lost = 0
  #wake = () => {}

  constructor(client: PlantStoreClient, source: PlantSource<Input>, options: CreatePlantsOptions) {
    const { concurrency, maxOutageMs, signal, ...call } = options
    this.#client = client
    const { [Symbol.asyncIterator]: openAsync } = source as Partial<AsyncIterable<Input>>
    this.#plants = openAsync?.call(source) ?? (source as Iterable<Input>)[Symbol.iterator]()
    this.#concurrency = concurrency ?? optionTable.concurrency.initial
    this.#maxOutageMs = maxOutageMs ?? optionTable.maxOutageMs.initial
    this.#options = { ...call, signal: this.#calls.signal, [GIVES_BACK]: isOutage }
    this.#gate = createGate(() => this.#probe(), this.#maxOutageMs, this.#over)
    const abort = () => {
      // The plants before it have results of their own; together they are no longer certain.
      this.#over.abort(abortError(signal?.reason, this.#index === 0 ? 'no' : 'maybe'))
      this.#calls.abort(signal?.reason)
      this.#wake()
    }
    this.#leave = onAbort(signal, abort)
    if (signal?.aborted) abort()
  }

  /** Sends what nobody refuses, a plant that is stored or what is never one; gives why that failed. */
  async #probe(): Promise<PlantStoreError | undefined> {
    const options = { ...this.#options, maxRetries: 0 }
    const probing: Promise<unknown> = this.#stored
      ? this.#client.createPlant(this.#stored, options)
      : this.#client.checkToken(options)
    const error = await probing.catch((thrown: unknown) => thrown)
    return isPlantStoreError(error) && isOutage(error) ? error : undefined
  }

  /** Sends a plant until it is answered, or has failed for what it holds, or the bulk is over. */
  async #store(input: Input): Promise<CreatePlantResult> {
    const { signal } = this.#over
    const startedAt = performance.now()
    let [attempts, ownFailures, applied] = [0, 0, 'no' as PlantStoreError['applied']]
    for (;;) {
      await this.#gate.pass()
      const options = signal.aborted ? { signal } : this.#options
      const result = await this.#client.tryCreatePlant(input, options)
      const isSent = result.meta.attempts > 0
      attempts += result.meta.attempts
      Object.assign(result.meta, { attempts, durationMs: performance.now() - startedAt })
      const error = result.ok ? undefined : result.error
      if (error !== undefined) {
        applied = nextApplied(applied, error)
        Object.assign(error, { applied, attempts })
      }
      if (error === undefined || !isSent || !isOutage(error)) {
        if (result.ok) this.#stored = { ...result.plant, id: input.id }
        if (result.meta.status !== undefined) this.#gate.onResponse()
        return result
      }
      const wasThere = await this.#gate.shut(error)
      // Without a connection nobody has read it, and the server gives its own state for a reason.
      const { apiCode, code, status } = error
      const mayBeOwn = apiCode === undefined && code !== 'connection_failed' && status !== 429
      if (mayBeOwn && wasThere) ownFailures++
      // While others are stored, no outage lasts too long for what the server refuses this one.
      const isTooLong = wasThere && performance.now() - startedAt > this.#maxOutageMs
      if (signal.aborted || (mayBeOwn ? ownFailures === MAX_OWN_FAILURES : isTooLong)) return result
      if (wasThere) await sleep(waitMs(0, ownFailures), signal)
    }
  }

  /** Reads one plant more, and sends it until it has a result. */
  async #next(): Promise<void> {
    this.#reading = 'within'
    let sent = 0
    try {
      const { done, value: input } = await this.#plants.next()
      this.#reading = done ? 'done' : 'between'
      this.#wake()
      if (done || this.#over.signal.aborted) return
      const index = this.#index++
      this.#inFlight += ++sent
      const result = await this.#store(input)
      this.#judge(result)
      this.#results.push({ index, input, ...result })
    } catch (reason) {
      this.#over.abort(reason)
    } finally {
      this.#inFlight -= sent
      this.#wake()
    }
  }

  /** Ends the bulk where a result says that no other plant will fare better. */
  #judge(result: CreatePlantResult): void {
    const error = result.ok ? undefined : result.error
    if (error === undefined || error.apiCode !== undefined) this.#lost = 0
    // What is no plant was not sent, which says nothing of the server.
    else if (error.code !== 'invalid_plant') this.#lost++
    if (error && (isFatal(error) || this.#lost >= MAX_LOST)) this.#over.abort(error)
  }

  /** Gives the results, and throws what has ended the bulk before its source. */
  async *run(): AsyncGenerator<CreatePlantsResult<Input>, void> {
    const { signal } = this.#over
    try {
      for (;;) {
        const changed = new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        const open = this.#inFlight + this.#results.length
        const isRead = this.#reading === 'done' || signal.aborted
        if (this.#reading === 'between' && !isRead && open < this.#concurrency) void this.#next()
        const result = this.#results.shift()
        if (result !== undefined) yield result
        else if (isRead && open === 0) break
        else await changed
      }
      signal.throwIfAborted()
    } finally {
      await this.#close()
    }
  }

  /** Ends what is under way, lets go of the signal and the timers, and closes the source. */
  async #close(): Promise<void> {
    const hasFailed = this.#over.signal.aborted
    this.#over.abort()
    this.#calls.abort()
    this.#leave()
    if (this.#reading === 'done') return
    const closed = (async () => this.#plants.return?.())()
    // What has ended the bulk says more than what its source throws at its end.
    const ended = hasFailed || this.#reading === 'within' ? closed.catch(() => {}) : closed
    // A source that is still at its next plant may take for ever.
    if (this.#reading === 'between') await ended
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
  client: PlantStoreClient,
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
