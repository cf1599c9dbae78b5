import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreRefusedError } from '../../store/store.ts'
import { readValue } from '../database/connect.ts'
import { refuseStrangeSchema } from '../database/schema.ts'
import { isCorrupt, isUnreadable } from '../files/error-codes.ts'
import { type CheckedPart, DamageError, preparePartCheck, SMALLEST_ID } from './read-part.ts'

/** The most that a check reads in a second, which takes 2 % of one processor. */
const PLANTS_PER_SECOND = 20_000

/** As much as a plant more, each; names are short mostly. */
const BYTES_PER_PLANT = 256

/** The most of the time that a check reads, where the disk is slow. */
const TIME_SHARE = 0.1

/** How long one transaction should take, so that it delays no checkpoint. */
const PART_MS = 2
const FEWEST_PLANTS = 64
const MOST_PLANTS = 4_096

function limitAfter(limit: number, ms: number): number {
  if (ms > 2 * PART_MS) return Math.max(FEWEST_PLANTS, limit >> 1)
  return ms < PART_MS ? Math.min(MOST_PLANTS, limit * 2) : limit
}

/**
 * Not by the time of the processor: Linux counts it in steps of 4 ms, and for work that is shorter
 * and begins with a step it counts nothing.
 */
function restAfter({ plants, bytes }: CheckedPart, ms: number): number {
  const share = (plants + bytes / BYTES_PER_PLANT) / PLANTS_PER_SECOND
  return Math.max(share * 1_000, ms * (1 / TIME_SHARE - 1))
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
      const startedAt = performance.now()
      const part = checkPart(first, limit)
      const ms = performance.now() - startedAt
      onPart(part.plants)
      from = part.next
      limit = limitAfter(limit, ms)
      await sleep(restAfter(part, ms), undefined, { signal })
    }
    return undefined
  } catch (error) {
    return describeDamage(error, from ?? SMALLEST_ID)
  }
}
