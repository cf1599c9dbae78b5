import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreRefusedError } from '../../../store/store.ts'
import { readValue } from '../database/connect.ts'
import { refuseStrangeSchema } from '../database/schema.ts'
import { isCorrupt, isUnreadable } from '../files/error-codes.ts'
import { DamageError, preparePartCheck, SMALLEST_ID } from './read-part.ts'

/** The most that a check uses of one processor, and of the time, most of which a slow disk may need. */
const PROCESSOR_SHARE = 0.02
const TIME_SHARE = 0.1

/** How long one transaction should compute, so that it delays no checkpoint. */
const PART_MS = 2
const FEWEST_PLANTS = 64
const MOST_PLANTS = 4_096

function limitAfter(limit: number, processorMs: number): number {
  if (processorMs > 2 * PART_MS) return Math.max(FEWEST_PLANTS, limit >> 1)
  return processorMs < PART_MS ? Math.min(MOST_PLANTS, limit * 2) : limit
}

interface Duration {
  readonly processorMs: number
  readonly ms: number
}

function measure<Result>(work: () => Result): { result: Result; duration: Duration } {
  const before = process.threadCpuUsage()
  const startedAt = performance.now()
  const result = work()
  const { user, system } = process.threadCpuUsage(before)
  const ms = performance.now() - startedAt
  return { result, duration: { processorMs: (user + system) / 1_000, ms } }
}

function restAfter({ processorMs, ms }: Duration): number {
  return Math.max(processorMs * (1 / PROCESSOR_SHARE - 1), ms * (1 / TIME_SHARE - 1))
}

function checkSmallTables(database: DatabaseSync, path: string): void {
  refuseStrangeSchema(database, path)
  for (const table of ['migrations', 'tokens']) {
    const damage = readValue(database, `PRAGMA quick_check('${table}')`)
    if (damage !== 'ok') throw new DamageError(`table ${table}: ${damage}`)
  }
}

/** @throws any error that is no damage. */
function describeDamage(error: unknown, from: bigint): string {
  if (error instanceof DamageError || error instanceof StoreRefusedError) return error.message
  if (!isCorrupt(error) && !isUnreadable(error)) throw error
  const place = from === SMALLEST_ID ? '' : `, at the id ${from} or after it`
  return `${(error as Error).message}${place}`
}

/**
 * Reads a whole store in short transactions, and rests between them. Resolves to the first damage
 * that it meets, or to undefined; `onPart` gets the number of plants that were read each time.
 * @throws what keeps the store from being read, and the reason of `signal` when that is aborted.
 */
export async function checkStore(
  database: DatabaseSync,
  path: string,
  onPart: (plants: number) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  database.exec('PRAGMA cell_size_check = ON')
  let from: bigint | undefined = SMALLEST_ID
  let limit = FEWEST_PLANTS
  try {
    checkSmallTables(database, path)
    const checkPart = preparePartCheck(database)
    while (from !== undefined) {
      const first: bigint = from
      const { result, duration } = measure(() => checkPart(first, limit))
      onPart(result.plants)
      from = result.next
      limit = limitAfter(limit, duration.processorMs)
      await sleep(restAfter(duration), undefined, { signal })
    }
    return undefined
  } catch (error) {
    return describeDamage(error, from ?? SMALLEST_ID)
  }
}
