import { StoreRefusedError, StoreUnavailableError } from '../store/store.ts'
import { MissingPasswordError } from './client.ts'
import { sqlStateOf } from './failures.ts'
import { NoServerError } from './search.ts'
import { FIX_OF_SHARING } from './sharing.ts'

/** What to do, by the beginning of an SQLSTATE. */
function fixOfState(state: string): string | undefined {
  const fixes = {
    '28': `fix the user or the password in PLANT_STORE_DATABASE_URL`,
    '3D000': `make the database with createdb, or fix its name in PLANT_STORE_DATABASE_URL`,
    '42501':
      `let the owner of the tables GRANT what the user of PLANT_STORE_DATABASE_URL needs, which ` +
      `docs/growing.md has as SQL and \`plant-store-server doctor\` names; only \`plant-store-server migrate\` needs the owner of the schema`,
    '42P01': `plant-store-server migrate, as the user who owns the tables`,
    '42P05': FIX_OF_SHARING,
    '26000': FIX_OF_SHARING,
    '53300': 'end other connections, or raise max_connections',
    '57P0': fixOfAddress(),
  }
  return Object.entries(fixes).find(([beginning]) => state.startsWith(beginning))?.[1]
}

function fixOfAddress(): string {
  return `start the database, or fix its address in PLANT_STORE_DATABASE_URL`
}

function fixOf(error: unknown): string | undefined {
  if (error instanceof MissingPasswordError) {
    return `a password in PLANT_STORE_DATABASE_URL, in PGPASSWORD, or in the file that PGPASSFILE names`
  }
  if (error instanceof NoServerError) {
    const states = error.reasons.map(sqlStateOf).filter((state) => state !== undefined)
    return states.map(fixOfState).find((fix) => fix !== undefined) ?? fixOfAddress()
  }
  const state = sqlStateOf(error)
  if (state !== undefined) return fixOfState(state)
  return (error as { syscall?: unknown } | null)?.syscall === undefined ? undefined : fixOfAddress()
}

/** The reason of an error and, where one can be named, what to do about it. */
export function describeReason(error: unknown): string {
  // An address with several numbers fails with an error for each, and none of its own.
  const [first] = error instanceof AggregateError ? error.errors : [error]
  const reason = first instanceof Error ? first.message : String(first)
  const fix = fixOf(first)
  return fix === undefined ? reason : `${reason}. Try: ${fix}`
}

/** The error for a database that cannot be used, the same in every command; a refusal stays itself. */
export function describeOpenFailure(error: unknown, place: string): Error {
  if (error instanceof StoreRefusedError || error instanceof StoreUnavailableError) return error
  return new StoreUnavailableError(
    `the database ${place} cannot be used: ${describeReason(error)}`,
    {
      cause: error,
    },
  )
}
