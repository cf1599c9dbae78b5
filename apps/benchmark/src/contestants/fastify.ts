import Database from 'better-sqlite3'
import { fastify } from 'fastify'
import { type Running, serveContestant } from './contestant.ts'

const SYNCHRONOUS_FULL = 2

const plant = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, tag: { type: 'string' } },
}
const newPlant = {
  ...plant,
  required: ['id', 'name'],
  properties: { id: { type: 'integer' }, ...plant.properties },
}

interface NewPlant {
  id: number
  name: string
  tag?: string
}

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

async function start(): Promise<Running> {
  const database = openDatabase(process.argv[2] ?? '')
  const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)')
  const app = fastify()
  app.post<{ Body: NewPlant }>(
    '/plants',
    { schema: { body: newPlant, response: { 200: plant } } },
    async ({ body: { id, name, tag } }) => {
      insert.run(id, name, tag ?? null)
      return { name, tag }
    },
  )
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    port: Number(new URL(url).port),
    token: 'unused',
    async close() {
      await app.close()
      database.close()
    },
  }
}

await serveContestant(start)
