import type { Pool } from 'pg'
import { plantFields } from '../store/plant-columns.ts'
import type { Tables } from './tables.ts'

/** A privilege on columns of a table; DELETE is on the whole of it. */
interface Grant {
  readonly table: string
  readonly privilege: 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE'
  readonly columns: readonly string[]
  /** What goes on without it, only worse; undefined where a create would not be stored. */
  readonly without?: string
}

const TOKEN = ['id', 'name', 'secret_sha256', 'created_at', 'expires_at', 'revoked_at']
const RATE = ['token_sha256', 'full_at_ns', 'granted']
const UNCOUNTED = 'each server counts the rates of tokens for itself'

/** What serving needs; docs/growing.md has it as SQL. */
const GRANTS: readonly Grant[] = [
  { table: 'migrations', privilege: 'SELECT', columns: ['version'] },
  { table: 'plants', privilege: 'SELECT', columns: plantFields },
  { table: 'plants', privilege: 'INSERT', columns: plantFields },
  { table: 'tokens', privilege: 'SELECT', columns: [...TOKEN, 'last_used_at'] },
  {
    table: 'tokens',
    privilege: 'UPDATE',
    columns: ['last_used_at'],
    without: 'no token is marked as used',
  },
  { table: 'token_rates', privilege: 'SELECT', columns: RATE, without: UNCOUNTED },
  { table: 'token_rates', privilege: 'INSERT', columns: RATE, without: UNCOUNTED },
  { table: 'token_rates', privilege: 'UPDATE', columns: RATE.slice(1), without: UNCOUNTED },
  {
    table: 'token_rates',
    privilege: 'DELETE',
    columns: ['granted'],
    without: 'full rates stay there',
  },
]

/** Columns, because a grant may be of some of them; $1: schema; then table, column and privilege. */
const MISSING = {
  name: 'missing-grants',
  text: `SELECT number, quote_ident(current_user) AS "user"
    FROM unnest($2::text[], $3::text[], $4::text[], $5::int[]) AS wanted (name, part, privilege, number)
    JOIN pg_namespace ON nspname = $1
    JOIN pg_class ON relnamespace = pg_namespace.oid AND relname = name
    JOIN pg_attribute ON attrelid = pg_class.oid AND attname = part AND NOT attisdropped
    WHERE NOT CASE privilege WHEN 'DELETE' THEN has_table_privilege(pg_class.oid, privilege)
      ELSE has_column_privilege(pg_class.oid, attnum, privilege) END
    GROUP BY number ORDER BY number`,
}

/** A privilege that the user lacks. */
export interface MissingGrant {
  /** What grants it. */
  readonly sql: string
  readonly without: string | undefined
}

/** The privileges that serving needs and the user of these connections lacks. */
export async function findMissingGrants(pool: Pool, tables: Tables): Promise<MissingGrant[]> {
  const wanted = GRANTS.flatMap(({ table, privilege, columns }, number) =>
    columns.map((column) => ({ table, column, privilege, number })),
  )
  const { rows } = await pool.query<{ number: number; user: string }>({
    ...MISSING,
    values: [
      tables.schema,
      wanted.map(({ table }) => table),
      wanted.map(({ column }) => column),
      wanted.map(({ privilege }) => privilege),
      wanted.map(({ number }) => number),
    ],
  })
  return rows.flatMap(({ number, user }) => {
    const grant = GRANTS[number]
    if (grant === undefined) return []
    const { table, privilege, columns, without } = grant
    const part = privilege === 'UPDATE' ? ` (${columns.join(', ')})` : ''
    const name = { ...tables, token_rates: tables.tokenRates }[table]
    return [{ sql: `GRANT ${privilege}${part} ON ${name} TO ${user}`, without }]
  })
}
