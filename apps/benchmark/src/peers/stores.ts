import Database from 'better-sqlite3'
import pg from 'pg'
import { block } from '../disk.ts'

export interface NewPlant {
  readonly id: number
  readonly name: string
  readonly tag?: string
}

/** Where the peers keep plants, each with a commit of its own. */
export interface PeerStore {
  insert(plant: NewPlant): unknown
  close(): unknown
}

const SYNCHRONOUS_FULL = 2

const POOL_CONNECTIONS = 10

/** Named, so that each connection prepares it once. */
const INSERT = { name: 'insert', text: 'INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3)' }

function openDatabase(path: string): Database.Database {
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  // better-sqlite3 opens an existing WAL file with NORMAL, so FULL is never taken for granted.
  database.pragma('synchronous = FULL')
  const synchronous = database.pragma('synchronous', { simple: true })
  if (synchronous !== SYNCHRONOUS_FULL) throw new Error(`synchronous is ${synchronous}, not FULL`)
  database.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT')
  return database
}

function openSqlite(path: string, commitDelayMs: number): PeerStore {
  const database = openDatabase(path)
  const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)')
  return {
    insert({ id, name, tag }) {
      insert.run(id, name, tag ?? null)
      block(commitDelayMs)
    },
    close: () => database.close(),
  }
}

function openPostgres(connectionString: string): PeerStore {
  const pool = new pg.Pool({ connectionString, max: POOL_CONNECTIONS })
  return {
    insert: ({ id, name, tag }) => pool.query({ ...INSERT, values: [id, name, tag ?? null] }),
    close: () => pool.end(),
  }
}

/** Opens a store as Fastify's users write it; on SQLite, each commit takes the delay longer. */
export function openPeerStore(databaseUrl: string, commitDelayMs = 0): PeerStore {
  const [scheme, path = ''] = databaseUrl.split(/:(.*)/s)
  return scheme === 'sqlite' ? openSqlite(path, commitDelayMs) : openPostgres(databaseUrl)
}
