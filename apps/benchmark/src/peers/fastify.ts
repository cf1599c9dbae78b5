import Database from 'better-sqlite3'
import { fastify } from 'fastify'
import pg from 'pg'
import { announce } from './serve.ts'

// A Fastify server as its users write it: a schema, a statement, an answer, a commit for each plant.

interface NewPlant {
  readonly id: number
  readonly name: string
  readonly tag?: string
}

const text = { type: 'string' }
const properties = { id: { type: 'integer' }, name: text, tag: text }
const newPlant = { type: 'object', required: ['id', 'name'], properties }
const plant = { type: 'object', required: ['name'], properties: { name: text, tag: text } }

const columns = 'PRIMARY KEY, name TEXT NOT NULL, tag TEXT'

function openSqlite(path: string) {
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  database.exec(`CREATE TABLE plants (id INTEGER ${columns}) STRICT`)
  // After the first write: better-sqlite3 opens a file in WAL mode with NORMAL.
  database.pragma('synchronous = FULL')
  const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)')
  return {
    insert: ({ id, name, tag }: NewPlant) => insert.run(id, name, tag ?? null),
    close: () => database.close(),
  }
}

async function openPostgres(connectionString: string) {
  const pool = new pg.Pool({ connectionString, max: 10 })
  await pool.query(`CREATE TABLE plants (id bigint ${columns})`)
  // Named, so that each connection prepares it once.
  const insert = { name: 'i', text: 'INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3)' }
  return {
    insert: ({ id, name, tag }: NewPlant) =>
      pool.query({ ...insert, values: [id, name, tag ?? null] }),
    close: () => pool.end(),
  }
}

const [databaseUrl = ''] = process.argv.slice(2)
const [scheme, path = ''] = databaseUrl.split(/:(.*)/s)
const store = scheme === 'sqlite' ? openSqlite(path) : await openPostgres(databaseUrl)
const app = fastify()
const schema = { body: newPlant, response: { 200: plant } }
app.post<{ Body: NewPlant }>('/plants', { schema }, async ({ body }) => {
  await store.insert(body)
  return { name: body.name, tag: body.tag }
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
announce(Number(new URL(url).port), async () => {
  await app.close()
  await store.close()
})
