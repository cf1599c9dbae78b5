import type { Pool } from 'pg'

const SOURCE = `SELECT source, quote_ident(current_user) AS "user",
    quote_ident(current_database()) AS database FROM pg_settings WHERE name = $1`

/** What turns a setting to a value, by where its value of these connections comes from. */
export async function fixOfSetting(pool: Pool, name: string, value: string): Promise<string> {
  const { rows } = await pool.query(SOURCE, [name])
  const { source, user, database } = rows[0] ?? {}
  const fixes: Readonly<Record<string, string>> = {
    user: `ALTER ROLE ${user} RESET ${name}`,
    database: `ALTER DATABASE ${database} RESET ${name}`,
    'database user': `ALTER ROLE ${user} IN DATABASE ${database} RESET ${name}`,
    client: `leave ${name} out of the options in PLANT_STORE_DATABASE_URL`,
    'command line': `start PostgreSQL without ${name} on its command line`,
  }
  return fixes[source] ?? `ALTER SYSTEM SET ${name} = ${value}; SELECT pg_reload_conf()`
}
