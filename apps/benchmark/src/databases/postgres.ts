import { createServer } from 'node:net'
import { join } from 'node:path'
import { migratePostgresDatabase } from '@plant-store/server/engines/postgres/migrate.js'
import pg from 'pg'
import { createCluster } from '../../../server/test/postgres/embedded-postgres.ts'
import type { Database } from './database.ts'

const USER = 'plant_store'
const PASSWORD = 'benchmark'

/** Nothing that makes it faster: what it writes, and when, is as it comes. */
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=']

/** A PostgreSQL with a data folder of its own. */
export interface PostgresServer {
  /** A new database with the schema of our server. */
  makeDatabase(): Promise<Database>
  stop(): Promise<void>
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
export async function startPostgres(folder: string): Promise<PostgresServer> {
  const port = await findFreePort()
  const cluster = createCluster({
    folder: join(folder, 'postgres'),
    port,
    user: USER,
    password: PASSWORD,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    settings: SETTINGS,
  })
  await cluster.initialise()
  await cluster.start()
  const urlOf = (name: string) => `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${name}`
  const maintenanceUrl = urlOf('postgres')
  let made = 0

  return {
    async makeDatabase() {
      const name = `plants_${++made}`
      await query(maintenanceUrl, `CREATE DATABASE ${name}`)
      const address = urlOf(name)
      await migratePostgresDatabase(address, false)
      // What was written so far is not left for whoever is measured next.
      await query(maintenanceUrl, 'CHECKPOINT')
      return {
        address,
        countPlants: async () =>
          Number((await query(address, 'SELECT count(*) FROM plants'))[0]?.count),
        async drop() {
          await query(maintenanceUrl, `DROP DATABASE ${name} WITH (FORCE)`)
        },
      }
    },
    stop: () => cluster.end('SIGINT'),
  }
}
