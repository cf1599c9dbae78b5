import type { CommitObserver, CommitTiming } from './observer.ts'
import { OutcomeUnknownError, StoreUnavailableError } from './store.ts'

export interface GroupCommitOptions<Item, Outcome> {
  /**
   * Stores a batch in one transaction and resolves with an outcome for each item, in order.
   * Its error is the error of every item of the batch. `waitedMs` is the wait of the oldest item.
   */
  readonly commit: (batch: readonly Item[], waitedMs: number) => Promise<Outcome[]>
  /** Every outcome that there can be. Default: anything but undefined. */
  readonly outcomes?: readonly Outcome[]
  /** Resolves a commit that has ended, if that is known before the event loop's next turn. */
  readonly poll?: () => void
  /** Commits that may run at the same time. Default: 1. */
  readonly commitsInFlight?: number
  /**
   * How long a commit must have run before the next one starts beside it. Beside a fast commit it
   * would only make the batches smaller. In ms; default: 0.
   */
  readonly besideAfterMs?: number
  readonly observer?: CommitObserver<Item> | undefined
}

/** An item that waits for its outcome. */
interface Waiting<Item, Outcome> {
  /** By performance.now(). */
  readonly since: number
  readonly item: Item
  readonly timing: CommitTiming | undefined
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** Bounds the time and the memory of one commit; larger batches gain nothing measurable. */
export const BATCH_LIMIT = 1024

/**
 * This many items are worth a sync of their own: they start a commit within a turn of the event
 * loop, as soon as none runs, so that disk and event loop work at the same time.
 */
export const WORTH_A_COMMIT = 24

/**
 * Group commit: items that arrive while a commit runs share the next one.
 * There is no timer: an item waits only for the requests that the event loop has already received,
 * and after a turn of the event loop in which one item came alone, not even for them.
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
    const outcome = new Promise<Outcome>((resolve, reject) => {
      this.#queue.push({ since: performance.now(), item, timing, resolve, reject })
    })
    this.#addedInTurn++
    if (this.#queue.length < WORTH_A_COMMIT) this.#schedule()
    else if (this.#inFlight === 0) void this.#runCommit()
    else {
      // A commit that it resolves starts the next one as soon as this call is over.
      this.#options.poll?.()
      this.#schedule()
    }
    return outcome
  }

  /** Rejects what waits with an error, and refuses what comes from now on. */
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

  /** How long the next commit must wait for one that runs; Infinity: until one has ended. */
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
    const batch = this.#queue
    this.#queue = batch.splice(BATCH_LIMIT)
    const resolveOutcomes = await commitBatch(batch, this.#lastStart, this.#options)
    this.#inFlight--
    // The next commit starts before this one's outcomes are resolved, which takes time as well.
    if (this.#queue.length > 0) void this.#runCommit()
    resolveOutcomes()
    if (this.#inFlight === 0) this.#notifyIdle()
  }
}

/** Commits a batch, and gives the function that resolves or rejects its items. */
async function commitBatch<Item, Outcome>(
  batch: readonly Waiting<Item, Outcome>[],
  startedAt: number,
  options: GroupCommitOptions<Item, Outcome>,
): Promise<() => void> {
  const { commit, observer } = options
  const items = batch.map(({ item }) => item)

  function reportTimes(endedAt: number, error?: unknown): void {
    for (const { since, timing } of batch) {
      const waitMs = startedAt - since
      observer?.itemWaited(waitMs)
      if (timing === undefined) continue
      timing.waitMs = waitMs
      timing.commitMs = endedAt - startedAt
    }
    observer?.commitEnded({ items, startedAt, endedAt, error })
  }

  try {
    const outcomes = await commit(items, startedAt - (batch[0]?.since ?? 0))
    refuseWrongOutcomes(outcomes, items.length, options)
    const endedAt = performance.now()
    return () => {
      // Not within the try: an observer's error must never become the response to a create.
      reportTimes(endedAt)
      batch.forEach(({ resolve }, index) => {
        resolve(outcomes[index] as Outcome)
      })
    }
  } catch (error) {
    const endedAt = performance.now()
    return () => {
      reportTimes(endedAt, error)
      for (const { reject } of batch) reject(error)
    }
  }
}

/** @throws OutcomeUnknownError unless there is an outcome for each item, and no more. */
function refuseWrongOutcomes<Item, Outcome>(
  outcomes: readonly Outcome[],
  expected: number,
  { outcomes: possible }: GroupCommitOptions<Item, Outcome>,
): void {
  let known = 0
  // Not `filter`, which passes over holes.
  for (const outcome of outcomes ?? []) {
    if (possible ? possible.includes(outcome) : outcome !== undefined) known++
  }
  if (outcomes?.length === expected && known === expected) return
  throw new OutcomeUnknownError(`a commit of ${expected} did not end with ${expected} outcomes`)
}
