import { randomFillSync } from 'node:crypto'
import { openDatabase } from '@plant-store/server/engines/sqlite/database/database.js'

/** The ends of int64, and where a double would begin to round. */
const EDGES = [-(2n ** 63n), 2n ** 63n - 1n, -(2n ** 53n) - 1n, 2n ** 53n + 1n, 0n]

/** What a careless writer or reader of lines would spoil. */
const NAMES = ['Fern', 'Aloë "vera"', 'Bonsai 盆栽 🌱', 'line\nfeed', "back\\slash', quote"]

const TAGS = ['indoor', '', null]

function makeIds(count: number): BigInt64Array {
  const ids = randomFillSync(new BigInt64Array(count))
  ids.set(EDGES.slice(0, count))
  return ids
}

/** Makes a store of this many plants with random ids, in one transaction. */
export async function makeSource(path: string, count: number): Promise<void> {
  const database = await openDatabase(path)
  try {
    const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)')
    insert.setReadBigInts(true)
    database.exec('BEGIN')
    makeIds(count).forEach((id, index) => {
      const name = `${NAMES[index % NAMES.length]} ${index}`
      insert.run(id, name, TAGS[index % TAGS.length] ?? null)
    })
    database.exec('COMMIT')
  } finally {
    database.close()
  }
}
