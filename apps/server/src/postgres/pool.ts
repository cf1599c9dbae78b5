import type { ClientBase, Pool, PoolConfig } from 'pg'
import type { PoolMeasures } from '../store/observer.ts'
import { StoreRefusedError } from '../store/store.ts'
import type { PostgresAddress } from './address.ts'
import { GuardedClient, type GuardedConfig } from './client.ts'
import { FollowingPool } from './following-pool.ts'
import { Servers } from './servers.ts'
import { refuseSharedSessions } from './sharing.ts'
import { findTables, PIN_NAMES, type Tables } from './tables.ts'

/** Enough for the commits in flight, a look-up of tokens, rates and a readiness check at a time. */
const CONNECTIONS = 6

/** How long making a connection may take before the database counts as unreachable. */
const CONNECT_TIMEOUT_MS = 2_000

/** How long one statement may take; a repeat on a new connection then finds its outcome. */
const STATEMENT_TIMEOUT_MS = 4_000

/** How long a statement may wait for a lock of somebody else; less than it may take in all. */
const LOCK_TIMEOUT_MS = 2_000

/** Settings that must not be off: a commit could be lost after its 200 (PostgreSQL 18, §19.5). */
const DURABILITY_SETTINGS = ['fsync', 'full_page_writes', 'synchronous_commit'] as const

async function readSetting(client: ClientBase | Pool, name: string): Promise<string | null> {
  // Servers that only speak PostgreSQL's protocol do not have all of its settings.
  const { rows } = await client.query('SELECT current_setting($1, true) AS value', [name])
  return rows[0]?.value ?? null
}

/** The names of the settings under which 200 would not mean durable. */
export async function findLossySettings(client: ClientBase | Pool): Promise<string[]> {
  const values = []
  for (const name of DURABILITY_SETTINGS) values.push([name, await readSetting(client, name)])
  return values.filter(([, value]) => value === 'off').map(([name]) => String(name))
}

async function refuseLossyServer(client: ClientBase, place: string): Promise<void> {
  const encoding = await readSetting(client, 'server_encoding')
  if (encoding !== null && !/^utf-?8$/i.test(encoding)) {
    throw new StoreRefusedError(`the database ${place} is in ${encoding}; it must be in UTF8`)
  }
  const [lossy] = await findLossySettings(client)
  if (lossy === undefined) return
  throw new StoreRefusedError(
    `the database ${place} has ${lossy} = off, so 200 would not mean durable. ` +
      `Set it to on, or start with PLANT_STORE_ALLOW_DATA_LOSS=yes.`,
  )
}

export interface PoolOptions {
  readonly allowDataLoss: boolean
  /** For work that may take long, such as a migration: no limits of time. Default: false. */
  readonly isPatient?: boolean
  /** For a standby, too, if the URL asks for one. Default: false. */
  readonly onlyReads?: boolean
}

/** Connections to a database, and where the store's tables are in it. */
export interface Database {
  readonly pool: FollowingPool
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

/** @throws StoreRefusedError behind a pooler that shares sessions, and where the schema is in doubt */
async function findTablesOnce(config: GuardedConfig, place: string): Promise<Tables> {
  const clients = [new GuardedClient(config), new GuardedClient(config)] as const
  try {
    for (const client of clients) {
      // What ends it fails the statement that is under way.
      client.on('error', () => {})
      await client.connect()
    }
    await refuseSharedSessions(clients, place)
    return await findTables(clients[0], place)
  } finally {
    for (const client of clients) await client.end().catch(() => {})
  }
}

function refuseTargetWithoutWrites({ target, place }: PostgresAddress): void {
  if (!/read-only|standby/.test(target)) return
  throw new StoreRefusedError(
    `target_session_attrs=${target} leads to a server of ${place} that stores nothing. ` +
      'Try: target_session_attrs=read-write',
  )
}

/**
 * Connections to a database, each checked before its first use: whether it leads to the server that
 * the URL asks for, and for "200 means durable", because a failover may lead to a server with other
 * settings. The meaning of table names is fixed once, now.
 * @throws StoreRefusedError for a URL that asks for no server that is written to, and where the
 * schema is in doubt, and whatever keeps from connecting.
 */
export async function openDatabase(
  address: PostgresAddress,
  { allowDataLoss, isPatient = false, onlyReads = false }: PoolOptions,
): Promise<Database> {
  if (!onlyReads) refuseTargetWithoutWrites(address)
  const { place } = address
  const configs = address.servers.map((said) => ({
    application_name: 'plant-store',
    ...said,
    connectionTimeoutMillis: said.connectionTimeoutMillis ?? CONNECT_TIMEOUT_MS,
    ...(isPatient ? {} : { query_timeout: STATEMENT_TIMEOUT_MS }),
  }))
  const servers = new Servers({ ...address, servers: configs })
  if (servers.areMany) await servers.find()
  const tables = await findTablesOnce(servers.current, place)
  const { connectionTimeoutMillis } = servers.current
  const config: PoolConfig = {
    connectionTimeoutMillis,
    max: CONNECTIONS,
    async onConnect(client) {
      await servers.check(client)
      await client.query(sessionSettings(isPatient))
      if (!allowDataLoss) await refuseLossyServer(client, place)
    },
  }
  return { pool: new FollowingPool(servers, config, !isPatient), tables, place }
}

export function measurePool({ options, totalCount, idleCount, waitingCount }: Pool): PoolMeasures {
  return { limit: options.max, open: totalCount, idle: idleCount, waiting: waitingCount }
}
