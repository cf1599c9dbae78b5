import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { query, startPostgres } from '../../server/test/postgres/postgres-server.ts'

export type Engine = 'sqlite' | 'postgres'

/** An empty database of one contestant, with a folder of its own on the disk that is measured. */
export interface Database {
  readonly url: string
  readonly folder: string
  /** The database server; undefined where there is none. */
  readonly pid?: number
  countPlants(): Promise<number>
  drop(): Promise<void>
}

const COUNT = 'SELECT count(*) AS count FROM plants'

/** How many plants a file has. */
export function countSqlitePlants(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  const count = database.prepare(COUNT).get()?.count
  database.close()
  return Number(count)
}

function makeSqlite(folder: string): Database {
  const path = join(folder, 'plants.db')
  return {
    url: `sqlite:${path}`,
    folder,
    countPlants: async () => countSqlitePlants(path),
    drop: async () => rmSync(folder, { recursive: true }),
  }
}

async function makePostgres(folder: string, starting: ReturnType<typeof startPostgres>) {
  const postgres = await starting
  const url = await postgres.createDatabase()
  const maintain = (text: string) => query(postgres.urlOf('postgres'), text)
  // What was written so far is not left for whoever is measured next.
  await maintain('CHECKPOINT')
  return {
    url,
    folder,
    pid: postgres.pid(),
    countPlants: async () => Number((await query(url, COUNT))[0]?.count),
    async drop() {
      await maintain(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`)
      rmSync(folder, { recursive: true })
    },
  }
}

export type Databases = ReturnType<typeof createDatabases>

/** Makes databases of either engine. PostgreSQL is started when it is first needed. */
export function createDatabases(parent: string) {
  // The data of PostgreSQL goes there too.
  process.env.TMPDIR = parent
  let starting: ReturnType<typeof startPostgres> | undefined
  return {
    async make(engine: Engine): Promise<Database> {
      const folder = mkdtempSync(join(parent, `${engine}-`))
      if (engine === 'sqlite') return makeSqlite(folder)
      // The tests' setting is smaller than PostgreSQL's own.
      starting ??= startPostgres(['shared_buffers=128MB'])
      return makePostgres(folder, starting)
    },
    async close(): Promise<void> {
      await (await starting)?.stop()
    },
  }
}
