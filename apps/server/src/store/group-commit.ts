import { type BatchOptions, commitBatch, type Waiting } from './commit-batch.ts'
import type { CommitTiming } from './observer.ts'
import { StoreUnavailableError } from './store.ts'

export interface GroupCommitOptions<Item, Outcome> extends BatchOptions<Item, Outcome> {
  /** Settles a commit that has ended, if this can be told within a turn of the event loop. */
  readonly poll?: () => void
  /** Items that may wait for a commit; one more is refused at once. */
  readonly queueLimit: number
  /** Commits that may run beside each other. Default: 1. */
  readonly commitsInFlight?: number
  /**
   * How long a commit must have run before another starts beside it: beside a fast one it would
   * only make the batches smaller. Default: 0.
   */
  readonly besideAfterMs?: number
}

/** Bounds the time and the memory of one commit; larger batches gain nothing measurable. */
const BATCH_LIMIT = 1024

/**
 * So many are worth a sync of their own: they start a commit in the midst of a turn of the event
 * loop, as soon as none runs, so that disk and loop work beside each other instead of by turns.
 */
const WORTH_A_COMMIT = 24

/**
 * Group commit: items that arrive while a commit runs share the next one.
 * No timer: an item waits for nothing but the requests that the event loop has already received,
 * and not for them either after a turn of the event loop in which one item came alone.
 */
export class GroupCommit<Item, Outcome> {
  readonly #options: GroupCommitOptions<Item, Outcome>
  #queue: Waiting<Item, Outcome>[] = []
  #inFlight = 0
  #lastStart = Number.NEGATIVE_INFINITY
  #besideTimer: NodeJS.Timeout | undefined
  #isScheduled = false
  #addedInTurn = 0
  #wasLone = false
  #refusal: string | undefined
  #notifyIdle = () => {}

  constructor(options: GroupCommitOptions<Item, Outcome>) {
    this.#options = options
  }

  /** Items that wait for a commit to begin. */
  get waiting(): number {
    return this.#queue.length
  }

  /** Resolves with the outcome of the item once the commit that holds it is done. */
  add(item: Item, timing?: CommitTiming): Promise<Outcome> {
    if (this.#refusal !== undefined) {
      return Promise.reject(new StoreUnavailableError(this.#refusal))
    }
    if (this.#queue.length >= this.#options.queueLimit) {
      return Promise.reject(new StoreUnavailableError('too many plants wait for a commit'))
    }
    const outcome = new Promise<Outcome>((resolve, reject) => {
      this.#queue.push({ since: performance.now(), item, timing, resolve, reject })
    })
    this.#addedInTurn++
    if (this.#queue.length < WORTH_A_COMMIT) this.#schedule()
    else if (this.#inFlight === 0) void this.#runCommit()
    else {
      // What it settles starts the next commit as soon as this call is over.
      this.#options.poll?.()
      this.#schedule()
    }
    return outcome
  }

  /** Ends what waits with an error, and refuses what comes from now on. */
  fail(error: Error): void {
    this.#refusal ??= 'the store has failed'
    for (const { reject } of this.#queue) reject(error)
    this.#queue = []
  }

  /** Refuses what comes from now on, and resolves when nothing waits any more. */
  async close(): Promise<void> {
    this.#refusal ??= 'the store is closing'
    if (this.#inFlight > 0 || this.#queue.length > 0) {
      await new Promise<void>((resolve) => {
        this.#notifyIdle = resolve
      })
    }
    clearTimeout(this.#besideTimer)
  }

  /** How long the next commit must wait for one that runs; without end for one to be over. */
  #waitMs(): number {
    const { commitsInFlight = 1, besideAfterMs = 0 } = this.#options
    if (this.#inFlight === 0) return 0
    if (this.#inFlight >= commitsInFlight) return Number.POSITIVE_INFINITY
    return this.#lastStart + besideAfterMs - performance.now()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    const waitMs = this.#waitMs()
    if (waitMs > 0) {
      this.#scheduleIn(waitMs)
      return
    }
    this.#isScheduled = true
    // A lone caller need not wait for the turn to end; where more come, only the first goes alone.
    if (this.#wasLone) void this.#runCommit()
    // Lets the event loop read what has already arrived, so that it shares this commit.
    setImmediate(() => {
      this.#isScheduled = false
      this.#wasLone = this.#addedInTurn === 1
      this.#addedInTurn = 0
      if (this.#queue.length === 0) return
      if (this.#waitMs() > 0) this.#schedule()
      else void this.#runCommit()
    })
  }

  #scheduleIn(ms: number): void {
    // The end of a commit starts the next one.
    if (ms === Number.POSITIVE_INFINITY) return
    this.#besideTimer ??= setTimeout(() => {
      this.#besideTimer = undefined
      if (this.#queue.length > 0) this.#schedule()
    }, ms)
  }

  async #runCommit(): Promise<void> {
    this.#inFlight++
    this.#lastStart = performance.now()
    const batch = this.#queue.slice(0, BATCH_LIMIT)
    this.#queue = this.#queue.slice(BATCH_LIMIT)
    const resolveOutcomes = await commitBatch(batch, this.#lastStart, this.#options)
    this.#inFlight--
    // The next commit starts before this one's outcomes are told: telling takes time as well.
    if (this.#queue.length > 0) void this.#runCommit()
    resolveOutcomes()
    if (this.#inFlight === 0) this.#notifyIdle()
  }
}
