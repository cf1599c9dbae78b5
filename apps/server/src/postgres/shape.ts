import type { Pool } from 'pg'
import { type PlantField, plantColumns, plantFields } from '../store/plant-columns.ts'
import type { Tables } from './tables.ts'

const KEY = (column: string) => `PRIMARY KEY (${column})`

function describeColumn(field: PlantField): string {
  const { postgres, isRequired } = plantColumns[field]
  return `the column ${field} ${postgres}${isRequired ? ' not null' : ''}`
}

/** What the migrations make, in the words of FACTS. */
const SHAPE: Readonly<Record<string, readonly string[]>> = {
  migrations: [
    'the column version bigint not null',
    'the column name text not null',
    'the column applied_at bigint not null',
    KEY('version'),
  ],
  plants: [...plantFields.map(describeColumn), KEY('id')],
  tokens: [
    'the column id text not null',
    'the column name text not null',
    'the column secret_sha256 bytea not null',
    'the column created_at bigint not null',
    'the column expires_at bigint',
    'the column revoked_at bigint',
    'the column last_used_at bigint',
    KEY('id'),
  ],
  token_rates: [
    'the column token_sha256 bytea not null',
    'the column full_at_ns bigint not null',
    'the column granted bigint not null',
    KEY('token_sha256'),
  ],
}

/**
 * All that decides what becomes of a row, a line for each. Where a column has a collation other
 * than its type's, the same text may count as another's.
 */
const FACTS = {
  name: 'facts',
  text: `WITH own AS (
    SELECT pg_class.* FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = $1 AND relname = ANY ($2::text[])
  )
  SELECT relname::text AS "table", fact FROM own, LATERAL (
    SELECT concat('the column ', attname, ' ', format_type(atttypid, atttypmod),
      CASE WHEN attcollation <> typcollation THEN ' with a collation' END,
      CASE WHEN attgenerated <> '' OR attidentity <> '' THEN ' generated' END,
      CASE WHEN attnotnull AND NOT atthasdef AND attidentity = '' THEN ' not null' END,
      CASE WHEN atthasdef THEN ' with a default' END) AS fact
    FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
    WHERE attrelid = own.oid AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT concat(
      CASE WHEN contype <> 'p' THEN concat('the constraint ', conname, ' ') END,
      pg_get_constraintdef(oid))
    FROM pg_constraint WHERE conrelid = own.oid AND contype IN ('c', 'f', 'p', 'u', 'x')
    UNION ALL SELECT concat('the unique index ', indexrelid::regclass)
    FROM pg_index WHERE indrelid = own.oid AND indisunique
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND conrelid = own.oid)
    UNION ALL SELECT concat('the trigger ', tgname)
    FROM pg_trigger WHERE tgrelid = own.oid AND NOT tgisinternal AND tgenabled <> 'D'
    UNION ALL SELECT concat('the rule ', rulename) FROM pg_rewrite WHERE ev_class = own.oid AND ev_enabled <> 'D'
    UNION ALL SELECT concat('the child table ', inhrelid::regclass) FROM pg_inherits WHERE inhparent = own.oid
    UNION ALL SELECT 'row-level security for this user' WHERE row_security_active(own.oid)
    UNION ALL SELECT concat('the kind ', relkind) WHERE relkind <> 'r'
    UNION ALL SELECT 'no log: a crash would empty it' WHERE relpersistence <> 'p' AND relname <> 'token_rates'
  ) AS facts`,
}

interface Fact {
  readonly table: string
  readonly fact: string
}

/** A column more hurts nobody as long as a row may leave it out. */
function isHarmless(fact: string, expected: readonly string[]): boolean {
  const [, name] = /^the column (\S+) /.exec(fact) ?? []
  if (name === undefined || fact.endsWith(' not null')) return false
  return !expected.some((one) => one.startsWith(`the column ${name} `))
}

function compare(table: string, facts: readonly string[]): string[] {
  const expected = SHAPE[table] ?? []
  if (facts.length === 0) return [`the table ${table} is missing`]
  const more = facts.filter((fact) => !expected.includes(fact) && !isHarmless(fact, expected))
  const less = expected.filter((fact) => !facts.includes(fact))
  return [
    ...more.map((fact) => `${table} has ${fact}`),
    ...less.map((fact) => `${table} lacks ${fact}`),
  ]
}

/**
 * What about the tables is not as the migrations make it, so that 200 might not mean stored as sent:
 * columns, keys, constraints, triggers, rules, policies, children, or no write-ahead log.
 */
export async function findDeviations(pool: Pool, { schema }: Tables): Promise<string[]> {
  const names = Object.keys(SHAPE)
  const { rows } = await pool.query<Fact>({ ...FACTS, values: [schema, names] })
  return names.flatMap((name) =>
    compare(
      name,
      rows.filter(({ table }) => table === name).map(({ fact }) => fact),
    ),
  )
}
