import type { ClientBase } from 'pg'
import { sqlStateOf } from './errors.ts'

/** The first 8 digits of a log file's name are its timeline, in hexadecimal. */
const LINEAGE = `SELECT system_identifier::text AS system,
    CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL
    ELSE pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8) END
    AS timeline FROM pg_catalog.pg_control_system()`

interface Row {
  readonly system: string
  /** Null on a standby. */
  readonly timeline: string | null
}

/** Nothing of servers that only speak PostgreSQL's protocol and have no such thing, or hide it. */
async function read(client: ClientBase): Promise<Row | undefined> {
  try {
    return (await client.query<Row>(LINEAGE)).rows[0]
  } catch (error) {
    if (/^(?:42|0A)/.test(sqlStateOf(error) ?? '')) return undefined
    throw error
  }
}

/**
 * Which database the servers of one list hold. A promotion begins a new timeline, so a primary on an
 * older one was left behind: what it stored would be lost.
 */
export class Lineage {
  #system: string | undefined
  #timeline = 0

  /** @throws Error for a server of another database, and for a primary that was left behind */
  async check(client: ClientBase): Promise<void> {
    const row = await read(client)
    if (row === undefined) return
    this.#system ??= row.system
    if (row.system !== this.#system) throw new Error('it holds another database than the others')
    if (row.timeline === null) return
    const timeline = Number.parseInt(row.timeline, 16)
    if (timeline < this.#timeline) throw new Error('it is an old primary: another was promoted')
    this.#timeline = timeline
  }
}
