import type { DatabaseSync } from 'node:sqlite'
import type { NewPlant } from '@plant-store/contract'
import type { CreateOutcome } from '../../../store/store.ts'

/** Gives the function that inserts plants, in order, inside the transaction that its caller opened. */
export function preparePlantInsert(
  database: DatabaseSync,
): (plants: readonly NewPlant[]) => CreateOutcome[] {
  const insert = database.prepare(
    'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING',
  )
  // run() gives the row's id too, which no number can hold; Node 26 throws where 24 rounds.
  insert.setReadBigInts(true)
  const select = database.prepare('SELECT name, tag FROM plants WHERE id = ?')

  function insertOne({ id, name, tag }: NewPlant): CreateOutcome {
    if (insert.run(id, name, tag ?? null).changes === 1n) return 'created'
    const stored = select.get(id)
    return stored?.name === name && stored.tag === (tag ?? null) ? 'already_there' : 'id_taken'
  }

  return (plants) => plants.map(insertOne)
}
