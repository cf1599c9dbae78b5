import { DatabaseSync } from 'node:sqlite'

export interface StoredPlant {
  readonly id: bigint
  readonly name: string
  readonly tag: string | null
}

/** What a SQLite file holds, read by a connection of its own, in id order. */
export function readPlants(path: string): StoredPlant[] {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 })
  try {
    const select = database.prepare('SELECT id, name, tag FROM plants ORDER BY id')
    select.setReadBigInts(true)
    return select.all().map((row) => ({ ...row })) as unknown as StoredPlant[]
  } finally {
    database.close()
  }
}
