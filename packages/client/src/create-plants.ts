import { nextApplied } from './applied.ts'
import { type CallOptions, GIVES_BACK } from './call.ts'
import type { CreatePlantResult, PlantStoreClient } from './client.ts'
import type { NewPlantInput } from './contract-types.ts'
import { onAbort, sleep } from './deadline.ts'
import { abortError, isPlantStoreError, optionError, type PlantStoreError } from './errors.ts'
import { createGate } from './gate.ts'
import { type CreatePlantOptions, checkOptions, optionTable } from './options.ts'

/** Those of a call hold for each plant; no outage counts for `maxRetries` and `totalTimeoutMs`. */
export interface CreatePlantsOptions extends Omit<CreatePlantOptions, 'requestId'> {
  /** How many plants at most are on their way, or waiting to be taken, at once. Default: 16. */
  readonly concurrency?: number | undefined
  /** In ms, from the first failure to the next response; a longer one ends it. Default: 300,000. */
  readonly maxOutageMs?: number | undefined
}

/** What became of one plant of a bulk. */
export type CreatePlantsResult<Input extends NewPlantInput = NewPlantInput> = CreatePlantResult & {
  /** Where the plant stood in the source, from 0. */
  readonly index: number
  /** The plant as the source gave it. */
  readonly input: Input
}

/** After so many plants in a row that were given up without a word of the server there is none. */
const MAX_LOST = 20

/** So often a plant may fail while the server is there; then that is for what it holds. */
const MAX_OWN_FAILURES = 3

/** Whether nobody has taken the plant, which may be because the server is away. */
function isOutage({ retryable, status }: PlantStoreError): boolean {
  return status === undefined ? retryable : [429, 502, 503, 504].includes(status)
}

/** Whether every plant would meet the error, now and later. */
function isFatal({ code, option, status }: PlantStoreError): boolean {
  return code === 'aborted' || code === 'forbidden' || option !== undefined || status === 401
}

/** A bulk under way: reads, sends, and keeps what came of it until it is taken. */
class Bulk<Input extends NewPlantInput> {
  readonly #client: PlantStoreClient
  readonly #options: CallOptions
  readonly #gate: ReturnType<typeof createGate>
  /** Once this is aborted nothing is read or sent any more; the loop throws its reason. */
  readonly #over = new AbortController()
  /** Ends the calls on their way. */
  readonly #calls = new AbortController()
  readonly #results: CreatePlantsResult<Input>[] = []
  /** A plant that is stored: to send it again can fail only because the server is away. */
  #stored: NewPlantInput | undefined
  #source: 'idle' | 'busy' | 'done' = 'idle'
  #index = 0
  #inFlight = 0
  #lost = 0
  #wake = () => {}

  constructor(client: PlantStoreClient, options: CreatePlantsOptions) {
    const { concurrency, maxOutageMs, ...call } = options
    this.#client = client
    this.#options = { ...call, signal: this.#calls.signal, [GIVES_BACK]: isOutage }
    const outageMs = maxOutageMs ?? optionTable.maxOutageMs.initial
    this.#gate = createGate(() => this.#probe(), outageMs, this.#over)
  }

  /** Sends what nobody refuses, a stored plant or what is never one; gives why that failed. */
  async #probe(): Promise<PlantStoreError | undefined> {
    const probing: Promise<unknown> = this.#stored
      ? this.#client.createPlant(this.#stored, this.#options)
      : this.#client.checkToken(this.#options)
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
      attempts += result.meta.attempts
      Object.assign(result.meta, { attempts, durationMs: performance.now() - startedAt })
      if (result.ok) this.#stored = { ...result.plant, id: input.id }
      else {
        applied = nextApplied(applied, result.error)
        Object.assign(result.error, { applied, attempts })
      }
      if (result.ok || !isOutage(result.error)) {
        if (result.meta.status !== undefined) this.#gate.onResponse(startedAt)
        return result
      }
      const wasThere = await this.#gate.shut(result.error)
      // Without a connection nobody has read it, and the server gives its own state for a reason.
      const { apiCode, code, status } = result.error
      const mayBeOwn = apiCode === undefined && code !== 'connection_failed' && status !== 429
      if (wasThere && mayBeOwn) ownFailures++
      if (signal.aborted || ownFailures === MAX_OWN_FAILURES) return result
      if (wasThere) await sleep(500, signal)
    }
  }

  /** Reads one plant more, sends it until it has a result, and sees whether that ends the bulk. */
  async #next(plants: Iterator<Input>): Promise<void> {
    this.#source = 'busy'
    let sent = 0
    try {
      const { done, value: input } = await plants.next()
      this.#source = done ? 'done' : 'idle'
      this.#wake()
      if (done) return
      const index = this.#index++
      this.#inFlight += ++sent
      const result = await this.#store(input)
      this.#results.push({ index, input, ...result })
      if (result.ok || result.error.apiCode !== undefined) this.#lost = 0
      // What is no plant was not sent, which says nothing of the server.
      else if (result.error.code !== 'invalid_plant') this.#lost++
      const isEnd = !result.ok && (isFatal(result.error) || this.#lost >= MAX_LOST)
      if (isEnd) this.#over.abort(result.error)
    } catch (reason) {
      this.#over.abort(reason)
    } finally {
      this.#inFlight -= sent
      this.#wake()
    }
  }

  /** Gives the results, and throws what has ended the bulk before its source. */
  async *run(open: () => Iterator<Input>, { concurrency, signal }: CreatePlantsOptions) {
    const most = concurrency ?? optionTable.concurrency.initial
    const plants = open()
    const { signal: over } = this.#over
    const abort = () => {
      // The plants before it have results of their own; together they are no longer certain.
      this.#over.abort(abortError(signal?.reason, this.#index === 0 ? 'no' : 'maybe'))
      this.#calls.abort(signal?.reason)
      this.#wake()
    }
    const leave = onAbort(signal, abort)
    if (signal?.aborted) abort()
    try {
      for (;;) {
        const changed = new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        const isRead = this.#source === 'done' || over.aborted
        const size = this.#inFlight + this.#results.length
        if (this.#source === 'idle' && !isRead && size < most) void this.#next(plants)
        const result = this.#results.shift()
        if (result !== undefined) yield result
        else if (isRead && size === 0) return over.throwIfAborted()
        else await changed
      }
    } finally {
      leave()
      this.#calls.abort()
      const closing = (async () => this.#source !== 'done' && plants.return?.())()
      // What has ended the bulk says more than what its source throws at its end.
      const closed = over.aborted || this.#source === 'busy' ? closing.catch(() => {}) : closing
      this.#over.abort()
      // A source that is still at its next plant may take for ever.
      if (this.#source === 'idle') await closed
    }
  }
}

/**
 * Stores many plants, some at once, and gives each result as soon as it is there, in any order. It
 * reads no further ahead than `concurrency`; leaving the loop aborts the calls on their way.
 *
 * An outage fails no plant: all wait until the server is there. One that fails three times while it
 * is there is given up as a result. What concerns every plant ends the loop, once what was sent has
 * its result: a refused token, an abort, an outage longer than `maxOutageMs`, 20 plants in a row with
 * no word of the server. A plant without a result, or with 0 attempts, was not sent.
 * @throws PlantStoreError at once for wrong options; later what ended the loop, or its source threw
 */
export function createPlants<Input extends NewPlantInput>(
  client: PlantStoreClient,
  source: Iterable<Input> | AsyncIterable<Input>,
  options: CreatePlantsOptions = {},
): AsyncGenerator<CreatePlantsResult<Input>, void> {
  checkOptions(options, 'bulk')
  const { [Symbol.iterator]: iterate, [Symbol.asyncIterator]: open = iterate } = Object(source)
  if (typeof source !== 'object' || !open) throw optionError('source', 'must be iterable')
  return new Bulk<Input>(client, options).run(() => open.call(source), options)
}
