import pg, { type ClientBase } from 'pg'
import { StoreRefusedError } from '../store/store.ts'

/** The tables of a store as SQL names them, each with its schema. */
export interface Tables {
  /** The name of their schema, without quotes. */
  readonly schema: string
  /** Whether the schema was said, or is of somebody who could take the whole database anyway. */
  readonly isTrusted: boolean
  readonly migrations: string
  readonly plants: string
  readonly tokens: string
  /** Kept for programs of earlier versions. */
  readonly tokenRates: string
}

type Schema = Pick<Tables, 'schema' | 'isTrusted'> & { readonly isHome: boolean }

/**
 * From here on a name without a schema means PostgreSQL's own: functions, operators, types and
 * temporary tables of others change nothing (PostgreSQL 18, §5.10.3). Policies of row-level
 * security fail a statement, instead of hiding rows from it.
 */
export const PIN_NAMES = 'SET search_path = pg_catalog, pg_temp; SET row_security = off'

const PATH = 'SELECT pg_catalog.current_schemas(false)::pg_catalog.text[] AS path'

/** In the order of the path. A home holds both tables that the first migration makes, in one commit. */
const SCHEMAS = `WITH trusted AS (
    SELECT oid FROM pg_roles
    WHERE rolsuper OR rolname IN (current_user, 'pg_database_owner')
    OR (pg_has_role(oid, 'USAGE') AND current_setting('is_superuser') = 'off')
    UNION SELECT datdba FROM pg_database WHERE datname = current_database()
  )
  SELECT nspname::text AS schema, count(relname) = 2 AS "isHome",
    nspowner IN (TABLE trusted) AND bool_and(relowner IS NULL OR relowner IN (TABLE trusted)) AS "isTrusted"
  FROM pg_namespace
  LEFT JOIN pg_class ON relnamespace = pg_namespace.oid AND relname IN ('migrations', 'plants')
  WHERE nspname = ANY ($1::text[])
  GROUP BY nspname, nspowner
  ORDER BY array_position($1::text[], nspname::text)`

/** How a URL says one schema. */
export function saySchema(schema: string): string {
  return `?options=-c%20search_path%3D${encodeURIComponent(schema)}`
}

/**
 * Finds the schema that holds the tables of the store, among those that a new connection looks
 * into, and pins what names mean on this connection. Where none holds them, it is the schema that
 * new tables would go to.
 * @throws StoreRefusedError where several schemas could be meant, or there is none.
 */
export async function findTables(client: ClientBase, place: string): Promise<Tables> {
  const { rows } = await client.query<{ path: string[] }>(PATH)
  await client.query(PIN_NAMES)
  // What is temporary is no place for a store.
  const path = rows[0]?.path.filter((schema) => !schema.startsWith('pg_')) ?? []
  const { rows: seen } = await client.query<Schema>(SCHEMAS, [path])
  const homes = seen.filter(({ isHome }) => isHome)
  const trusted = homes.filter(({ isTrusted }) => isTrusted)
  const [chosen] = homes.length === 0 ? seen : trusted.length === 1 ? trusted : homes
  if (chosen === undefined) {
    throw new StoreRefusedError(`the user of ${place} may look into no schema of its search_path`, {
      fix: 'let the owner of the schema GRANT USAGE ON SCHEMA to that user',
    })
  }
  if (homes.length > 1 && trusted.length !== 1) {
    const names = homes.map(({ schema }) => schema)
    throw new StoreRefusedError(
      `${place} has the tables of a store in each of the schemas ${names.join(', ')}`,
      { fix: `say which are meant at the end of the URL: ${names.map(saySchema).join(' or ')}` },
    )
  }
  const { schema } = chosen
  const name = (table: string) => `${pg.escapeIdentifier(schema)}.${table}`
  return {
    schema,
    isTrusted: chosen.isTrusted || path.length === 1,
    migrations: name('migrations'),
    plants: name('plants'),
    tokens: name('tokens'),
    tokenRates: name('token_rates'),
  }
}

/** Runs statements in one transaction. */
export async function inTransaction(client: ClientBase, work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN')
  try {
    await work()
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}
