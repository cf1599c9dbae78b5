import pg, { type ClientBase } from 'pg'
import { StoreRefusedError } from '../store/store.ts'

/** The tables of a store as SQL names them, each with its schema. */
export interface Tables {
  /** The name of their schema, without quotes. */
  readonly schema: string
  /** Whether the schema was said, or is of somebody who could take the whole database anyway. */
  readonly isTrusted: boolean
  /** Other schemas with such tables, where a new connection does not look. */
  readonly elsewhere: readonly string[]
  readonly migrations: string
  readonly plants: string
  readonly tokens: string
  readonly tokenRates: string
}

interface Schema {
  readonly schema: string
  readonly isHome: boolean
  readonly isTrusted: boolean
}

/**
 * From here on a name without a schema means PostgreSQL's own: functions, operators, types and
 * temporary tables of others change nothing (PostgreSQL 18, §5.10.3). Policies of row-level
 * security fail a statement, instead of hiding rows from it.
 */
export const PIN_NAMES = 'SET search_path = pg_catalog, pg_temp; SET row_security = off'

const PATH = 'SELECT pg_catalog.current_schemas(false)::pg_catalog.text[] AS path'

/** A home holds both tables that the first migration makes, in one commit. */
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
  WHERE NOT starts_with(nspname::text, 'pg_')
  GROUP BY nspname, nspowner
  ORDER BY nspname`

/** How a URL says one schema. */
export function saySchema(schema: string): string {
  return `options=-c%20search_path%3D${encodeURIComponent(schema)}`
}

function nameTables({ schema, isTrusted }: Schema, elsewhere: readonly string[]): Tables {
  const name = (table: string) => `${pg.escapeIdentifier(schema)}.${table}`
  return {
    schema,
    isTrusted,
    elsewhere,
    migrations: name('migrations'),
    plants: name('plants'),
    tokens: name('tokens'),
    tokenRates: name('token_rates'),
  }
}

/** @throws StoreRefusedError where several schemas could be meant, or there is none. */
function choose(path: readonly string[], schemas: readonly Schema[], place: string): Tables {
  const seen = schemas.filter(({ schema }) => path.includes(schema))
  const homes = seen.filter(({ isHome }) => isHome)
  const trusted = homes.filter(({ isTrusted }) => isTrusted)
  const elsewhere = schemas.filter((one) => one.isHome && !seen.includes(one))
  const [first = ''] = path
  const chosen =
    homes.length > 0
      ? [homes, trusted].find(({ length }) => length === 1)?.[0]
      : seen.find(({ schema }) => schema === first)
  const names = (some: readonly Schema[]) => some.map(({ schema }) => schema)
  if (chosen !== undefined) {
    const isTrusted = chosen.isTrusted || path.length === 1
    return nameTables({ ...chosen, isTrusted }, names(elsewhere))
  }
  if (homes.length > 0) {
    throw new StoreRefusedError(
      `${place} has the tables of a store in each of the schemas ${names(homes).join(', ')}. ` +
        `Say which are meant at the end of the URL: ${homes.map(({ schema }) => `?${saySchema(schema)}`).join(' or ')}`,
    )
  }
  const where = elsewhere.length === 0 ? 'public' : names(elsewhere).join(', ')
  throw new StoreRefusedError(
    `the user of ${place} may look into no schema of its search_path. ` +
      `Let the owner of ${where} GRANT USAGE ON SCHEMA to that user`,
  )
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
  const { rows: schemas } = await client.query<Schema>(SCHEMAS)
  // What is temporary is no place for a store.
  const path = rows[0]?.path.filter((schema) => !schema.startsWith('pg_')) ?? []
  return choose(path, schemas, place)
}
