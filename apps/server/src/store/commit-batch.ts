import type { CommitObserver, CommitTiming } from './observer.ts'

export interface BatchOptions<Item, Outcome> {
  /**
   * Stores a batch in one transaction and gives an outcome for each item, in order.
   * Its error is the error of every item of the batch. `waitedMs` is the wait of the oldest item.
   */
  readonly commit: (batch: readonly Item[], waitedMs: number) => Promise<Outcome[]>
  readonly observer?: CommitObserver<Item> | undefined
}

/** An item that waits for its outcome. */
export interface Waiting<Item, Outcome> {
  /** By performance.now(). */
  readonly since: number
  readonly item: Item
  readonly timing: CommitTiming | undefined
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** Commits a batch and gives what tells its outcomes. */
export async function commitBatch<Item, Outcome>(
  batch: readonly Waiting<Item, Outcome>[],
  startedAt: number,
  { commit, observer }: BatchOptions<Item, Outcome>,
): Promise<() => void> {
  const items = batch.map(({ item }) => item)

  /** Tells where the time of the batch went. */
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
    const endedAt = performance.now()
    return () => {
      // Not within the try: an observer's error must never become the reply to a create.
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
