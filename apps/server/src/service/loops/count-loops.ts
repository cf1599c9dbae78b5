import { availableParallelism, totalmem } from 'node:os'
import { whyOneLoop } from '../../settings/why-one-loop.ts'

/** Of a container's memory, or of the machine's, for each loop. */
const LOOP_BYTES = 200 * 1024 * 1024

/** The thread of commits takes no more than about this many loops give it: see docs/performance.md. */
const MOST = 8

/** Bytes that this process may have: those of its container, or of the machine. */
function memoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/**
 * How many event loops serve: as many as were asked for, else one for each core but one that this
 * process may use, as far as memory reaches, and 8 at most. The last core is for what commits: a
 * second loop on two cores takes more than it gives. It is one where more cannot be.
 */
export function countLoops(asked: number | undefined): number {
  if (asked !== undefined) return asked
  if (whyOneLoop() !== undefined) return 1
  const byMemory = Math.floor(memoryBytes() / LOOP_BYTES)
  return Math.max(1, Math.min(availableParallelism() - 1, byMemory, MOST))
}
