import { availableParallelism, totalmem } from 'node:os'
import { whyOneLoop } from '../../config/why-one-loop.ts'

/** Of a container's memory, or of the machine's, for each loop. */
const LOOP_BYTES = 200 * 1024 * 1024

/**
 * More were not measured. Two fill the thread that commits with random ids, sixteen with rising ones:
 * see docs/performance.md.
 */
const MOST = 8

/** Bytes that this process may have: those of its container, or of the machine. */
function memoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/**
 * One event loop for each core but one, as far as memory reaches, and 8 at most. The last core is for
 * what commits: a second loop on two cores gains little, and makes each create dearer.
 */
export function loopsFor(cores: number, bytes: number): number {
  return Math.max(1, Math.min(cores - 1, Math.floor(bytes / LOOP_BYTES), MOST))
}

/**
 * How many event loops serve: as many as were asked for, else as many as are good for the cores and
 * the memory that this process may use. It is one where more cannot be.
 */
export function countLoops(asked: number | undefined): number {
  if (asked !== undefined) return asked
  if (whyOneLoop() !== undefined) return 1
  return loopsFor(availableParallelism(), memoryBytes())
}
