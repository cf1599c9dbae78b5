import type { ClientBase } from 'pg'
import { StoreRefusedError } from '../store/store.ts'
import { FIX_OF_SHARING } from './errors.ts'

/** A busy pooler may lead a connection to the same session twice by chance, hardly this often. */
const ROUNDS = 3

const READ = "SELECT pg_catalog.current_setting('plant_store.session', true) AS value"

/**
 * Marks two sessions in turn and reads both marks: behind a pooler that gives sessions to
 * transactions or statements, one connection finds the mark of the other, or none.
 * @throws StoreRefusedError there: limits of time, the meaning of names and prepared statements
 * would be those of strangers, and ours would be theirs
 */
export async function refuseSharedSessions(
  connections: readonly ClientBase[],
  place: string,
): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, connection] of connections.entries()) {
      await connection.query(`SET plant_store.session = '${round}.${index}'`)
    }
    for (const [index, connection] of connections.entries()) {
      const { rows } = await connection.query(READ)
      if (rows[0]?.value === `${round}.${index}`) continue
      throw new StoreRefusedError(`a pooler before ${place} shares sessions between connections`, {
        fix: FIX_OF_SHARING,
      })
    }
  }
}
