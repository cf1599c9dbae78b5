import type { ClientBase, PoolClient } from 'pg'
import type { OpenOptions } from '../store/engine.ts'
import { StoreRefusedError } from '../store/store.ts'
import { refuseLossyNodes } from './citus.ts'
import { FIX_OF_SHARING, toOpenError } from './errors.ts'
import { Connections } from './hosts.ts'
import { findTables, PIN_NAMES, type Tables } from './tables.ts'
import { readPostgresUrl } from './url.ts'

/** Enough for the commits in flight, a look-up of tokens and a readiness check at a time. */
const CONNECTIONS = 6

/** How long making a connection may take before the database counts as unreachable. */
const CONNECT_TIMEOUT_MS = 2_000

/** How long one statement may take; a repeat on a new connection then finds its outcome. */
const STATEMENT_TIMEOUT_MS = 4_000

/** How long a statement may wait for a lock of somebody else; less than it may take in all. */
const LOCK_TIMEOUT_MS = 2_000

/** How long a connection is used, since each new one is asked whether it loses nothing. */
const LIFETIME_SECONDS = 60

/**
 * What must not be: a commit could be lost after its 200 (PostgreSQL 18, §19.5), or not hold each
 * name. Servers that only speak PostgreSQL's protocol do not have all of these settings.
 */
const STATE = `SELECT current_setting('fsync', true) AS fsync,
    current_setting('full_page_writes', true) AS full_page_writes,
    current_setting('synchronous_commit', true) AS synchronous_commit,
    current_setting('server_encoding', true) AS encoding,
    to_regclass('pg_catalog.pg_dist_node') IS NOT NULL AS "hasNodes",
    (SELECT string_agg(relname, ', ') FROM pg_class WHERE relpersistence <> 'p'
      AND oid IN (to_regclass($1), to_regclass($2))) AS unlogged`

/** @throws StoreRefusedError for a database that could lose a plant after its 200 */
async function refuseLossy(client: ClientBase, tables: Tables, place: string): Promise<void> {
  const { rows } = await client.query(STATE, [tables.plants, tables.tokens])
  const { encoding, hasNodes, unlogged, ...settings } = rows[0] ?? {}
  if (!/^(?:utf-?8)?$/i.test(encoding ?? '')) {
    throw new StoreRefusedError(`the database ${place} is in ${encoding}; it must be in UTF8`)
  }
  const [lossy] = Object.keys(settings).filter((name) => settings[name] === 'off')
  const fault = lossy === undefined ? unlogged && `${unlogged} UNLOGGED` : `${lossy} = off`
  if (fault) {
    const message = `the database ${place} has ${fault}, so 200 would not mean durable`
    const fix = 'change that, or start with PLANT_STORE_ALLOW_DATA_LOSS=yes'
    throw new StoreRefusedError(message, { fix })
  }
  if (hasNodes) await refuseLossyNodes(client, place)
}

async function refuseReadOnly(client: ClientBase): Promise<void> {
  const { rows } = await client.query('SHOW transaction_read_only')
  if (rows[0]?.transaction_read_only !== 'off') throw new Error('it takes no writes')
}

interface PoolOptions extends OpenOptions {
  /** For work that may take long, such as a migration: no limits of time. Default: false. */
  readonly isPatient?: boolean
}

/** Connections to a database, and where the store's tables are in it. */
export interface Database {
  readonly connections: Connections
  readonly tables: Tables
  /** Host, port and database, without the user and the password. */
  readonly place: string
}

/**
 * What each connection starts with. A lock that somebody holds ends the statement, so that it is
 * surely rolled back; a statement_timeout would also end the wait for a standby, after the commit.
 * The sign that such a wait was ended is a warning, which must arrive.
 */
function sessionSettings(isPatient: boolean): string {
  const lockTimeout = isPatient ? '' : `; SET lock_timeout = ${LOCK_TIMEOUT_MS}`
  return `${PIN_NAMES}; SET client_min_messages = warning${lockTimeout}`
}

/** A busy pooler may lead a connection to the same session twice by chance, hardly this often. */
const ROUNDS = 3

const READ = "SELECT pg_catalog.current_setting('plant_store.session', true) AS value"

/**
 * Marks two sessions in turn and reads both marks: behind a pooler that gives sessions to
 * transactions or statements, one connection finds the mark of the other, or none.
 * @throws StoreRefusedError there: limits of time, the meaning of names and prepared statements
 * would be those of strangers, and ours would be theirs
 */
export async function refuseSharedSessions(
  connections: readonly ClientBase[],
  place: string,
): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, connection] of connections.entries()) {
      await connection.query(`SET plant_store.session = '${round}.${index}'`)
    }
    for (const [index, connection] of connections.entries()) {
      const { rows } = await connection.query(READ)
      if (rows[0]?.value === `${round}.${index}`) continue
      const message = `a pooler before ${place} shares sessions between connections`
      throw new StoreRefusedError(message, { fix: FIX_OF_SHARING })
    }
  }
}

/** On connections on which nothing is set yet: a pooler could give them to strangers. */
async function findTablesOnce(connections: Connections, place: string): Promise<Tables> {
  const clients: PoolClient[] = []
  try {
    const first = await connections.connect()
    clients.push(first)
    clients.push(await connections.connect())
    await refuseSharedSessions(clients, place)
    return await findTables(first, place)
  } finally {
    for (const client of clients) client.release(true)
  }
}

/** No more of the URL, since another place could be another store. */
function readUser(readDatabaseUrl: () => string) {
  try {
    const [server] = readPostgresUrl(readDatabaseUrl()).servers
    return { user: server?.user, password: server?.password }
  } catch {
    // What the database said of the user is the reason, as before.
    return {}
  }
}

/**
 * Opens connections to a database, each checked before its first use: whether its server takes
 * writes, and for "200 means durable", because a failover may lead to a server with other settings.
 * The meaning of table names is fixed once, now. `use` closes them; its error does, too.
 * @throws StoreRefusedError for a database that must not be used, StoreUnavailableError for one that
 * cannot be used now
 */
export async function useDatabase<Result>(
  databaseUrl: string,
  { allowDataLoss, readDatabaseUrl = () => databaseUrl, isPatient = false }: PoolOptions,
  use: (database: Database) => Promise<Result>,
): Promise<Result> {
  const { servers, mustWrite, place } = readPostgresUrl(databaseUrl)
  let tables: Tables | undefined
  const config = {
    application_name: 'plant-store',
    max: CONNECTIONS,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(isPatient ? {} : { query_timeout: STATEMENT_TIMEOUT_MS }),
    maxLifetimeSeconds: LIFETIME_SECONDS,
  }
  const check = async (client: ClientBase) => {
    if (mustWrite) await refuseReadOnly(client)
    if (tables === undefined) return
    await client.query(sessionSettings(isPatient))
    if (!allowDataLoss) await refuseLossy(client, tables, place)
  }
  const connections = new Connections(servers, config, check, () => readUser(readDatabaseUrl))
  try {
    tables = await findTablesOnce(connections, place)
    return await use({ connections, tables, place })
  } catch (error) {
    if (!connections.pool.ending) await connections.pool.end()
    throw toOpenError(error, place)
  }
}
