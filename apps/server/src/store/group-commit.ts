import type { CommitTiming, StoreObserver } from './observer.ts'
import { StoreUnavailableError } from './store.ts'

export interface GroupCommitOptions<Item, Outcome> {
  /**
   * Stores a batch in one transaction and gives an outcome for each item, in order.
   * Its error is the error of every item of the batch. `waitedMs` is the wait of the oldest item.
   */
  readonly commit: (batch: readonly Item[], waitedMs: number) => Promise<Outcome[]>
  /** Items that may wait for a commit; one more is refused at once. */
  readonly queueLimit: number
  /** Commits that may run beside each other. Default: 1. */
  readonly commitsInFlight?: number
  /**
   * How long a commit must have run before another starts beside it: beside a fast one it would
   * only make the batches smaller. Default: 0.
   */
  readonly besideAfterMs?: number
  readonly observer?: StoreObserver | undefined
}

export interface GroupCommit<Item, Outcome> {
  /** Resolves with the outcome of the item once the commit that holds it is done. */
  add(item: Item, timing?: CommitTiming): Promise<Outcome>
  /** Items that wait for a commit to begin. */
  readonly waiting: number
  /** Ends what waits with an error, and refuses what comes from now on. */
  fail(error: Error): void
  /** Refuses what comes from now on, and resolves when nothing waits any more. */
  close(): Promise<void>
}

interface Waiting<Item, Outcome> {
  /** By performance.now(). */
  readonly since: number
  readonly item: Item
  readonly timing: CommitTiming | undefined
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** Bounds the time and the memory of one commit; larger batches gain nothing measurable. */
const BATCH_LIMIT = 1024

/**
 * Group commit: items that arrive while a commit runs share the next one.
 * No timer: an item waits for nothing but the requests that the event loop has already received,
 * and not for them either after a turn of the event loop in which one item came alone.
 */
export function createGroupCommit<Item, Outcome>({
  commit,
  queueLimit,
  commitsInFlight = 1,
  besideAfterMs = 0,
  observer,
}: GroupCommitOptions<Item, Outcome>): GroupCommit<Item, Outcome> {
  let queue: Waiting<Item, Outcome>[] = []
  let inFlight = 0
  let lastStart = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let isScheduled = false
  let addedInTurn = 0
  let wasLone = false
  let refusal: string | undefined
  let tellIdle = () => {}

  function takeBatch(): Waiting<Item, Outcome>[] {
    const batch = queue.slice(0, BATCH_LIMIT)
    queue = queue.slice(BATCH_LIMIT)
    return batch
  }

  /** Tells where the time of a batch went, whose commit began at `begunAt` and has just ended. */
  function tellTimes(
    batch: readonly Waiting<Item, Outcome>[],
    begunAt: number,
    commitMs: number,
    hasFailed: boolean,
  ): void {
    for (const { since, timing } of batch) {
      const waitMs = begunAt - since
      observer?.plantWaited(waitMs)
      if (timing === undefined) continue
      timing.waitMs = waitMs
      timing.commitMs = commitMs
    }
    observer?.commitEnded(batch.length, commitMs, hasFailed)
  }

  /** Commits a batch and gives what tells its outcomes. */
  async function commitBatch(batch: readonly Waiting<Item, Outcome>[]): Promise<() => void> {
    const begunAt = performance.now()
    try {
      const outcomes = await commit(
        batch.map(({ item }) => item),
        begunAt - (batch[0]?.since ?? 0),
      )
      const commitMs = performance.now() - begunAt
      return () => {
        tellTimes(batch, begunAt, commitMs, false)
        batch.forEach(({ resolve }, index) => {
          resolve(outcomes[index] as Outcome)
        })
      }
    } catch (error) {
      const commitMs = performance.now() - begunAt
      return () => {
        tellTimes(batch, begunAt, commitMs, true)
        for (const { reject } of batch) reject(error)
      }
    }
  }

  async function runCommit(): Promise<void> {
    inFlight++
    lastStart = performance.now()
    const tellOutcomes = await commitBatch(takeBatch())
    inFlight--
    // The next commit starts before this one's outcomes are told: telling takes time as well.
    if (queue.length > 0) void runCommit()
    tellOutcomes()
    if (inFlight === 0) tellIdle()
  }

  /** How long the next commit must wait for one that has begun; 0 where none runs. */
  function remainingMs(): number {
    return inFlight === 0 ? 0 : lastStart + besideAfterMs - performance.now()
  }

  function schedule(): void {
    if (isScheduled || inFlight >= commitsInFlight) return
    const waitMs = remainingMs()
    if (waitMs > 0) {
      timer ??= setTimeout(() => {
        timer = undefined
        if (queue.length > 0) schedule()
      }, waitMs)
      return
    }
    isScheduled = true
    // A lone caller need not wait for the turn to end; where more come, only the first goes alone.
    if (wasLone) void runCommit()
    // Lets the event loop read what has already arrived, so that it shares this commit.
    setImmediate(() => {
      isScheduled = false
      wasLone = addedInTurn === 1
      addedInTurn = 0
      if (queue.length > 0 && inFlight < commitsInFlight) void runCommit()
    })
  }

  return {
    get waiting() {
      return queue.length
    },
    add(item, timing) {
      if (refusal !== undefined) return Promise.reject(new StoreUnavailableError(refusal))
      if (queue.length >= queueLimit) {
        return Promise.reject(new StoreUnavailableError('too many plants wait for a commit'))
      }
      const outcome = new Promise<Outcome>((resolve, reject) => {
        queue.push({ since: performance.now(), item, timing, resolve, reject })
      })
      addedInTurn++
      schedule()
      return outcome
    },
    fail(error) {
      refusal ??= 'the store has failed'
      for (const { reject } of queue) reject(error)
      queue = []
    },
    async close() {
      refusal ??= 'the store is closing'
      if (inFlight === 0 && queue.length === 0) {
        clearTimeout(timer)
        return
      }
      await new Promise<void>((resolve) => {
        tellIdle = resolve
      })
    },
  }
}
