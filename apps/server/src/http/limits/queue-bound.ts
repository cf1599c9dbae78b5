import type { QueueBound } from '../../store/group-commit.ts'
import type { LoopPlace } from './process-counts.ts'
import { LoopCount } from './shared/loop-count.ts'

/**
 * Bounds how many plants wait for a commit to begin, in the queues of all event loops together.
 * @param queueLimit plants that may wait in the whole process
 */
export function createQueueBound({ counts, loop }: LoopPlace, queueLimit: number): QueueBound {
  const queued = new LoopCount(counts.perLoop.queuedPlants, loop)
  return {
    take: () => queued.take(queueLimit),
    leave: (count) => queued.leave(count),
  }
}
