import { randomFillSync } from 'node:crypto'

/**
 * Passes over all ids. Rising ids alone would fill every page of the file to the brim, which random
 * ids never do; random ids would take hours.
 */
const PASSES = 4

const CHUNK_CHARACTERS = 65_536

/** All stored ids are negative, spread evenly. */
const LOWEST = -(2n ** 63n)

/** Gives random integers from 0 to below 2^32. */
function createRandom(): () => number {
  const pool = new Uint32Array(4096)
  let used = pool.length
  return () => {
    if (used === pool.length) {
      randomFillSync(pool)
      used = 0
    }
    return pool[used++] as number
  }
}

/**
 * Plants as CSV, in chunks of about 64 KiB. The range of negative int64 is divided into `count`
 * parts, and each part has one id, at random in its lower 2^32.
 */
export function* makeStoredPlants(count: number): Generator<string, undefined> {
  const random = createRandom()
  const part = -LOWEST / BigInt(count)
  let text = 'id,name,tag\n'
  for (let pass = 0; pass < PASSES; pass++) {
    for (let index = pass; index < count; index += PASSES) {
      const id = LOWEST + BigInt(index) * part + BigInt(random())
      text += `${id},Fern ${100 + (index % 900)},indoor\n`
      if (text.length < CHUNK_CHARACTERS) continue
      yield text
      text = ''
    }
  }
  yield text
}
