import pg from 'pg'
import { serveContestant } from './contestant.ts'
import { type Peer, startFastify } from './fastify-app.ts'

const CONNECTIONS = 10

/** Named, so that each connection prepares it once. */
const INSERT = { name: 'insert', text: 'INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3)' }

function openPeer(connectionString: string): Peer {
  const pool = new pg.Pool({ connectionString, max: CONNECTIONS })
  return {
    insert: ({ id, name, tag }) => pool.query({ ...INSERT, values: [id, name, tag ?? null] }),
    close: () => pool.end(),
  }
}

await serveContestant(() => startFastify(openPeer(process.argv[2] ?? '')))
