import type { NewPlant } from '@plant-store/contract'
import type { CreateOutcome } from '../../store/store.ts'
import type { Transactions } from '../database/transactions.ts'
import { CommitThread, type CommitThreadOptions } from './commit-thread.ts'

/**
 * A lone create commits on the event loop's thread while the disk is this fast: handing it to
 * another thread would take longer than the commit.
 */
const FAST_COMMIT_MS = 1

/** Commits each batch where that is fastest; see "Where commits run" in ARCHITECTURE.md. */
export interface Committer {
  commit(plants: readonly NewPlant[]): Promise<CreateOutcome[]>
  /** Resolves a batch that the thread has ended, without waiting for the event loop's next turn. */
  poll(): void
  /** Takes nothing more: the file cannot be trusted. */
  stop(): void
  close(): Promise<void>
}

export function createCommitter(
  insertPlants: (plants: readonly NewPlant[]) => CreateOutcome[],
  { write }: Transactions,
  options: CommitThreadOptions,
): Committer {
  let thread: CommitThread | undefined
  let lastLoneCommitMs = 0
  let lastSize = 1

  async function commitHere(plants: readonly NewPlant[]): Promise<CreateOutcome[]> {
    return await write(() => insertPlants(plants))
  }

  async function commitLone(thread: CommitThread, plants: readonly NewPlant[]) {
    const start = performance.now()
    const outcomes = await (lastLoneCommitMs < FAST_COMMIT_MS
      ? commitHere(plants)
      : thread.commit(plants))
    // The thread's time counts too: a disk that stalled once may be fast again.
    lastLoneCommitMs = performance.now() - start
    return outcomes
  }

  return {
    commit(plants) {
      // Not before the first plant: the command line opens stores as well.
      thread ??= new CommitThread(options)
      // One plant between larger batches is no lone caller's, and the event loop has more to do.
      const isLone = plants.length === 1 && lastSize === 1
      lastSize = plants.length
      if (!thread.isReady) return commitHere(plants)
      return isLone ? commitLone(thread, plants) : thread.commit(plants)
    },
    poll() {
      thread?.poll()
    },
    stop() {
      thread?.stop()
    },
    async close() {
      await thread?.close()
    },
  }
}
