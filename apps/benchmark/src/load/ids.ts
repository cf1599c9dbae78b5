import { randomFillSync } from 'node:crypto'
import type { Ids } from '../measurement.ts'

const LOWEST = -(2n ** 63n)

/** Gives a fresh uniform int64 at each call. */
function createRandomIds(): () => bigint {
  const pool = new BigInt64Array(1024)
  let used = pool.length
  return () => {
    if (used === pool.length) {
      randomFillSync(pool)
      used = 0
    }
    return pool[used++] as bigint
  }
}

/** Gives the id of another new plant as decimal text at each call. */
export function createIds(ids: Ids, firstId: number): () => string {
  let nextId = firstId
  if (ids === 'rising') return () => String(nextId++)
  const next = createRandomIds()
  return ids === 'random' ? () => String(next()) : () => String(next() | LOWEST)
}
