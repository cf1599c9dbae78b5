import type { Pool } from 'pg'
import type { MoveRecords } from '../store/move.ts'
import { toStoreError } from './resolve.ts'
import type { Tables } from './tables.ts'

/** Records of moves into a database, in a table that is there as long as one goes on. */
export function createPostgresMoves(pool: Pool, { schema, moves }: Tables): MoveRecords {
  const createMissing = `CREATE TABLE IF NOT EXISTS ${moves}
    (id text PRIMARY KEY, place text NOT NULL, conflicts bigint NOT NULL)`
  const isThere = "SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'moves'"

  async function query(text: string, values: unknown[] = []) {
    try {
      return (await pool.query(text, values)).rows
    } catch (error) {
      // Every statement may run again, so that an unknown outcome matters to nobody.
      throw toStoreError(error, false)
    }
  }

  return {
    async find(moveId) {
      if ((await query(isThere, [schema])).length === 0) return undefined
      const [row] = await query(`SELECT place, conflicts FROM ${moves} WHERE id = $1`, [moveId])
      return row && { place: String(row.place), conflicts: Number(row.conflicts) }
    },
    async save(moveId, { place, conflicts }) {
      if ((await query(isThere, [schema])).length === 0) await query(createMissing)
      await query(
        `INSERT INTO ${moves} VALUES ($1, $2, $3)
          ON CONFLICT (id) DO UPDATE SET place = excluded.place, conflicts = excluded.conflicts`,
        [moveId, place, conflicts],
      )
    },
    async remove() {
      await query(`DROP TABLE IF EXISTS ${moves}`)
    },
  }
}
