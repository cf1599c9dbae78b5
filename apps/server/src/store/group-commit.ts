import { OutcomeUnknownError, StoreUnavailableError } from './store.ts'

export interface GroupCommitOptions<Item, Outcome> {
  /**
   * Stores a batch in one transaction and gives an outcome for each item, in order.
   * Its error is the error of every item of the batch.
   */
  readonly commit: (batch: readonly Item[]) => Promise<Outcome[]>
  /** Items that may wait for a commit; one more is refused at once. */
  readonly queueLimit: number
}

export interface GroupCommit<Item, Outcome> {
  /** Resolves with the outcome of the item once the commit that holds it is done. */
  add(item: Item): Promise<Outcome>
  /** Refuses what comes from now on, and resolves when nothing waits any more. */
  close(): Promise<void>
}

interface Waiting<Item, Outcome> {
  readonly item: Item
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** Bounds the time and the memory of one commit; larger batches gain nothing measurable. */
const BATCH_LIMIT = 1024

/**
 * Group commit: items that arrive while a commit runs share the next one.
 * No timer: a lone item waits for nothing but the requests that the event loop has already received.
 * After an OutcomeUnknownError everything that waits gets that error and nothing more is taken.
 */
export function createGroupCommit<Item, Outcome>({
  commit,
  queueLimit,
}: GroupCommitOptions<Item, Outcome>): GroupCommit<Item, Outcome> {
  let queue: Waiting<Item, Outcome>[] = []
  let running: Promise<void> | undefined
  let refusal: string | undefined

  async function commitNext(): Promise<void> {
    const batch = queue.slice(0, BATCH_LIMIT)
    queue = queue.slice(BATCH_LIMIT)
    try {
      const outcomes = await commit(batch.map(({ item }) => item))
      batch.forEach(({ resolve }, index) => {
        resolve(outcomes[index] as Outcome)
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
      if (error instanceof OutcomeUnknownError) fail(error)
    }
  }

  function fail(error: OutcomeUnknownError): void {
    refusal = 'the store has failed'
    for (const { reject } of queue) reject(error)
    queue = []
  }

  async function run(): Promise<void> {
    while (queue.length > 0) {
      // Lets the event loop read what has already arrived, so that it shares this commit.
      await new Promise(setImmediate)
      await commitNext()
    }
    running = undefined
  }

  return {
    add(item) {
      if (refusal !== undefined) return Promise.reject(new StoreUnavailableError(refusal))
      if (queue.length >= queueLimit) {
        return Promise.reject(new StoreUnavailableError('too many plants wait for a commit'))
      }
      const outcome = new Promise<Outcome>((resolve, reject) => {
        queue.push({ item, resolve, reject })
      })
      running ??= run()
      return outcome
    },
    async close() {
      refusal ??= 'the store is closing'
      await running
    },
  }
}
