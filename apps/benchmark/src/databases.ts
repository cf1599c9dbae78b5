import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { migratePostgresDatabase } from '@plant-store/server/store/postgres/migrate.js'
import pg from 'pg'
import { createCluster } from '../../server/test/postgres/embedded-postgres.ts'
import type { Contestant } from './contestants.ts'

/** Where a contestant keeps its plants. */
export interface Database {
  readonly url: string
  countPlants(): Promise<number>
  drop(): Promise<void>
}

/** Makes databases of either engine, all of them on one disk. */
export interface Databases {
  make(engine: Contestant['engine']): Promise<Database>
  close(): Promise<void>
}

/** Nothing that makes it faster: what it writes, and when, is as it comes. */
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=']

const COUNT = 'SELECT count(*) AS count FROM plants'

function countSqlitePlants(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return Number(database.prepare(COUNT).get()?.count)
  } finally {
    database.close()
  }
}

/** A place for a file, in a folder of its own inside `folder`; who uses it makes the file. */
function placeSqliteDatabase(folder: string): Database {
  const ownFolder = mkdtempSync(join(folder, 'sqlite-'))
  const path = join(ownFolder, 'plants.db')
  return {
    url: `sqlite:${path}`,
    countPlants: async () => countSqlitePlants(path),
    drop: async () => rmSync(ownFolder, { recursive: true }),
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function query(url: string, text: string) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Starts a PostgreSQL that keeps its data in `folder`. It ends with this process at the latest. */
async function startPostgres(folder: string) {
  const port = await findFreePort()
  const [user, password] = ['plant_store', 'benchmark']
  const cluster = createCluster({
    folder: join(folder, 'postgres'),
    port,
    user,
    password,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    settings: SETTINGS,
  })
  await cluster.initialise()
  await cluster.start()
  const urlOf = (name: string) => `postgres://${user}:${password}@127.0.0.1:${port}/${name}`
  const maintain = (text: string) => query(urlOf('postgres'), text)
  let made = 0

  return {
    /** A new database with the schema of our server. */
    async makeDatabase(): Promise<Database> {
      const name = `plants_${++made}`
      const url = urlOf(name)
      await maintain(`CREATE DATABASE ${name}`)
      await migratePostgresDatabase(url, false)
      // What was written so far is not left for whoever is measured next.
      await maintain('CHECKPOINT')
      return {
        url,
        countPlants: async () => Number((await query(url, COUNT))[0]?.count),
        async drop() {
          await maintain(`DROP DATABASE ${name} WITH (FORCE)`)
        },
      }
    },
    stop: () => cluster.end('SIGINT'),
  }
}

/** PostgreSQL is started when it is first needed. */
export function createDatabases(folder: string): Databases {
  let postgres: ReturnType<typeof startPostgres> | undefined
  return {
    async make(engine) {
      if (engine === 'sqlite') return placeSqliteDatabase(folder)
      postgres ??= startPostgres(folder)
      return (await postgres).makeDatabase()
    },
    async close() {
      await (await postgres)?.stop()
    },
  }
}
