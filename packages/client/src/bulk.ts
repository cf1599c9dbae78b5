import type { CreatePlantResult } from './client.ts'
import type { NewPlantInput } from './contract-types.ts'
import { onAbort } from './deadline.ts'
import { abortError, type PlantStoreError } from './errors.ts'
import type { Progress } from './progress.ts'
import type { RowSender } from './row-sender.ts'

/** What became of one plant of a bulk: where it stood in the source, from 0, and the plant as given. */
export type CreatePlantsResult<Input extends NewPlantInput = NewPlantInput> = CreatePlantResult & {
  /** Where the plant stood in the source, from 0. */
  readonly index: number
  /** The plant as the source gave it. */
  readonly input: Input
}

/** Plants, as an array, a generator, or a stream of them. */
export type PlantSource<Input extends NewPlantInput> = Iterable<Input> | AsyncIterable<Input>

/**
 * So far at most the bulk runs ahead of the first plant whose result is not taken: a program that
 * starts again at a checkpoint sends no more than these once more.
 */
const MAX_AHEAD = 4_096

/** After so many rows in a row that were given up without a word of the server there is none. */
const MAX_LOST = 20

/** Whether the error is one that every plant would meet, now and later. */
function isFatal({ code, option, status }: PlantStoreError): boolean {
  const isOfAll = code === 'aborted' || code === 'unauthorized' || code === 'forbidden'
  return isOfAll || option !== undefined || status === 401
}

interface BulkParts {
  readonly sender: RowSender
  readonly progress: Progress
  readonly concurrency: number
  /** The caller's. */
  readonly signal: AbortSignal | undefined
  /** Ends the calls on their way. */
  readonly aborted: AbortController
}

/** A bulk under way: reads, sends, and keeps what came of it until it is taken. */
export class Bulk<Input extends NewPlantInput> {
  readonly #plants: Iterator<Input> | AsyncIterator<Input>
  readonly #parts: BulkParts
  readonly #leave: () => void
  readonly #results: CreatePlantsResult<Input>[] = []
  #lost = 0
  #index = 0
  #inFlight = 0
  #isReading = false
  #isRead = false
  #failure: { readonly reason: unknown } | undefined
  #wake = () => {}

  constructor(source: PlantSource<Input>, parts: BulkParts) {
    this.#parts = parts
    const { [Symbol.asyncIterator]: openAsync } = source as Partial<AsyncIterable<Input>>
    this.#plants = openAsync?.call(source) ?? (source as Iterable<Input>)[Symbol.iterator]()
    const { signal, aborted } = parts
    const abort = () => {
      // The plants before it have results of their own; together they are no longer certain.
      this.#fail(abortError(signal?.reason, this.#index === 0 ? 'no' : 'maybe'))
      aborted.abort(signal?.reason)
    }
    this.#leave = onAbort(signal, abort)
    if (signal?.aborted) abort()
  }

  /** Reads and sends nothing more; the loop throws this once the results are taken. */
  #fail(reason: unknown): void {
    this.#failure ??= { reason }
    this.#parts.sender.outage.end()
    this.#wake()
  }

  /** The state of the outage has changed. */
  onChange(): void {
    this.#parts.progress.onChange()
    this.#wake()
  }

  get #hasEnded(): boolean {
    return this.#isRead || this.#parts.sender.outage.isOver
  }

  /** Starts reading one plant more, if there is room. */
  #advance(): void {
    const { concurrency, progress } = this.#parts
    const taken = this.#inFlight + this.#results.length
    const isAhead = this.#index - progress.settledRows >= Math.max(MAX_AHEAD, concurrency)
    if (this.#hasEnded || this.#isReading || taken >= concurrency || isAhead) return
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
    }
    this.#isReading = false
    this.#wake()
  }

  async #send(input: Input): Promise<void> {
    const { progress, sender } = this.#parts
    const index = this.#index++
    this.#inFlight++
    try {
      const result = await sender.store(input, () => progress.onSent())
      const mayPass = !result.ok && (result.error.retryable || isFatal(result.error))
      this.#note(result.ok ? undefined : result.error)
      progress.onResult(index, result, mayPass && sender.outage.isOver)
      this.#results.push({ index, input, ...result })
    } catch (reason) {
      this.#fail(reason)
    }
    this.#inFlight--
    this.#wake()
  }

  /** Ends the bulk where what became of a row says that no other will fare better. */
  #note(error: PlantStoreError | undefined): void {
    if (error === undefined || error.apiCode !== undefined) this.#lost = 0
    // What is no plant was not sent, which says nothing of the server.
    else if (error.attempts > 0 || error.code !== 'invalid_plant') this.#lost++
    if (error === undefined || this.#parts.sender.outage.isOver) return
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

  /** Ends what is under way, lets go of the signal and the timers, and closes the source. */
  async close(): Promise<void> {
    const { aborted, progress, sender } = this.#parts
    progress.close()
    sender.outage.end()
    this.#leave()
    aborted.abort()
    if (this.#isRead) return
    const closed = (async () => this.#plants.return?.())()
    // What has ended the bulk says more than what its source throws at its end.
    const ended = this.failure !== undefined || this.#isReading ? closed.catch(() => {}) : closed
    // A source that is still at its next plant may take for ever.
    if (!this.#isReading) await ended
  }

  /** What ended the bulk before its source did. */
  get failure(): { readonly reason: unknown } | undefined {
    const outage = this.#parts.sender.outage.failure
    return this.#failure ?? (outage && { reason: outage })
  }
}
