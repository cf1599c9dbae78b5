import { StoreRefusedError } from '../store/store.ts'

/**
 * What a failed statement left behind, by its SQLSTATE
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 * `again`: rolled back in favour of another transaction, to be repeated at once.
 * `rolled_back`: surely nothing stored.
 * `unknown`: the connection or its server ended while the statement ran.
 */
export type Aftermath = 'again' | 'rolled_back' | 'unknown'

/** serialization_failure, deadlock_detected */
const AGAIN = new Set(['40001', '40P01'])

/**
 * connection_exception, admin_shutdown, crash_shutdown, cannot_connect_now, database_dropped,
 * idle_session_timeout, statement_completion_unknown, internal_error, which a distributed database
 * gives for a node that it lost. A shutdown may interrupt a commit that waits for its standby, after
 * it was committed on the primary.
 */
const UNKNOWN = /^(?:08|57P0[1-5]|40003|XX000)/

const SQLSTATE = /^[0-9A-Z]{5}$/

export function sqlStateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && SQLSTATE.test(code) && 'severity' in (error as object)
    ? code
    : undefined
}

export function aftermathOf(error: unknown): Aftermath {
  if (error instanceof StoreRefusedError) return 'rolled_back'
  const state = sqlStateOf(error)
  if (state === undefined || UNKNOWN.test(state)) return 'unknown'
  return AGAIN.has(state) ? 'again' : 'rolled_back'
}

/** Whether the same statement may succeed later: read-only, out of resources, cancelled, locked. */
export function isPassing(error: unknown): boolean {
  return /^(?:25006|53|55|57|58030)/.test(sqlStateOf(error) ?? '')
}

/** Whether the server takes no writes, which after a failover another one may take. */
export function isReadOnly(error: unknown): boolean {
  return sqlStateOf(error) === '25006'
}

/**
 * Whether somebody must change something first: privileges, a schema that is not there, or a pooler
 * whose sessions have lost a prepared statement, or have one of somebody else.
 */
export function isOfSetup(error: unknown): boolean {
  return /^(?:42501|3F000|42P05|26000)$/.test(sqlStateOf(error) ?? '')
}
