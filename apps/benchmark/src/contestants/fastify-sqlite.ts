import Database from 'better-sqlite3'
import { block } from './block.ts'
import { serveContestant } from './contestant.ts'
import { type Peer, startFastify } from './fastify-app.ts'

const SYNCHRONOUS_FULL = 2

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

/** Each commit takes `delayMs` longer than it would. */
function openPeer(path: string, delayMs: number): Peer {
  const database = openDatabase(path)
  const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)')
  return {
    insert({ id, name, tag }) {
      insert.run(id, name, tag ?? null)
      block(delayMs)
    },
    close: () => database.close(),
  }
}

const [path = '', delayMs = '0'] = process.argv.slice(2)
await serveContestant(() => startFastify(openPeer(path, Number(delayMs))))
