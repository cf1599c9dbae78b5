import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { query, startPostgres } from '../../../test/postgres-server.ts'

export type Engine = 'sqlite' | 'postgres'

/** An empty database of one contestant, with a folder of its own on the disk that is measured. */
export interface Database {
  readonly url: string
  readonly folder: string
  /** The database server; NaN where there is none. */
  readonly pid: number
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

export type Databases = ReturnType<typeof createDatabases>

/** Makes databases of either engine. PostgreSQL is started when it is first needed. */
export function createDatabases(parent: string) {
  // The data of PostgreSQL goes there too.
  process.env.TMPDIR = parent
  let starting: ReturnType<typeof startPostgres> | undefined

  async function makePostgres(folder: string): Promise<Database> {
    // The tests' setting is smaller than PostgreSQL's own.
    starting ??= startPostgres(['shared_buffers=128MB'])
    const postgres = await starting
    const url = await postgres.createDatabase()
    const maintain = (text: string) => query(postgres.urlOf('postgres'), text)
    // What was written so far is not left for whoever is measured next.
    await maintain('CHECKPOINT')
    const countPlants = async () => Number((await query(url, COUNT))[0]?.count)
    const drop = async () =>
      void (await maintain(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`))
    return { url, folder, pid: postgres.pid(), countPlants, drop }
  }

  return {
    async make(engine: Engine): Promise<Database> {
      const folder = mkdtempSync(join(parent, `${engine}-`))
      if (engine === 'postgres') return makePostgres(folder)
      const path = join(folder, 'plants.db')
      const countPlants = async () => countSqlitePlants(path)
      const drop = async () => rmSync(folder, { recursive: true })
      return { url: `sqlite:${path}`, folder, pid: Number.NaN, countPlants, drop }
    },
    async close(): Promise<void> {
      await (await starting)?.stop()
    },
  }
}
