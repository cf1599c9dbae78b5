import pg from 'pg'
import { StoreRefusedError, StoreUnavailableError } from '../store/store.ts'

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

export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

export function aftermathOf(error: unknown): Aftermath {
  if (error instanceof StoreRefusedError) return 'rolled_back'
  const state = sqlStateOf(error)
  if (state === undefined || UNKNOWN.test(state)) return 'unknown'
  return AGAIN.has(state) ? 'again' : 'rolled_back'
}

/** Whether the server takes no writes, which after a failover another one may take. */
export function isReadOnly(error: unknown): boolean {
  return sqlStateOf(error) === '25006'
}

/** Whether a connection is of no more use after an error. */
export function isLost(error: unknown): boolean {
  return aftermathOf(error) === 'unknown' || isReadOnly(error)
}

/**
 * Whether the same statement may succeed later: read-only, out of resources, cancelled, locked; or
 * when somebody has changed something: the user or the password, the database, privileges, a schema
 * that is not there, or a pooler whose sessions have lost a prepared statement, or have one of
 * somebody else.
 */
export function isPassing(error: unknown): boolean {
  return /^(?:25006|28|3D000|53|55|57|58030|42501|3F000|42P05|26000)/.test(sqlStateOf(error) ?? '')
}

/** What to do about a pooler that shares sessions. */
export const FIX_OF_SHARING =
  'let the pooler give each connection a session of its own: pool_mode = session in PgBouncer'

const FIX_OF_ADDRESS = 'start the database, or fix its address in PLANT_STORE_DATABASE_URL'

/** What to do, by the beginning of an SQLSTATE, or of a code of OpenSSL's. */
const FIXES = [
  ['DEPTH_ZERO|SELF_SIGNED|UNABLE_TO', 'sslrootcert=FILE in PLANT_STORE_DATABASE_URL'],
  ['28', 'fix the user or the password in PLANT_STORE_DATABASE_URL, or in its file'],
  ['3D000', 'make the database with createdb, or fix its name in PLANT_STORE_DATABASE_URL'],
  ['42501', 'the GRANTs of docs/growing.md, as the owner of the tables; migrate needs the owner'],
  ['42P01', 'plant-store-server migrate, as the user who owns the tables'],
  ['42P05', FIX_OF_SHARING],
  ['26000', FIX_OF_SHARING],
  ['53300', 'end other connections, or raise max_connections'],
  ['57P0', FIX_OF_ADDRESS],
] as const

function fixOf(error: unknown): string | undefined {
  if (error instanceof StoreRefusedError) return error.fix
  const { code, syscall, cause, errors = [cause] } = Object(error)
  const fix = FIXES.find(([start]) => new RegExp(`^(?:${start})`).test(code))?.[1]
  if (fix !== undefined) return fix
  if (syscall !== undefined) return FIX_OF_ADDRESS
  return errors.flatMap((one: unknown) => (one ? (fixOf(one) ?? []) : []))[0]
}

/** The reason of an error, and what to do about it where that can be named. */
export function explain(error: unknown) {
  // A name with several addresses fails with an error for each, and none of its own.
  const { message, errors: [first] = [] } = error as AggregateError
  return { detail: message || String(first?.message ?? error), fix: fixOf(error) }
}

/** The error for a database that cannot be used, the same in every command; a refusal stays itself. */
export function toOpenError(cause: unknown, place: string): Error {
  if (cause instanceof StoreRefusedError || cause instanceof StoreUnavailableError) return cause
  const options = { cause, ...explain(cause) }
  return new StoreUnavailableError(`the database ${place} cannot be used`, options)
}
