import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { migratePostgresDatabase } from '@plant-store/server/postgres/migrate.js'
import { query, startPostgres } from '../../server/test/postgres/postgres-server.ts'
import type { Contestant } from './contestants.ts'
import { readProcessSeconds } from './process-time.ts'

/** Where a contestant keeps its plants. */
export interface Database {
  readonly url: string
  /** Of a database that a server has not made itself. */
  readonly token?: string
  /** Processor time of its own processes so far; undefined where it has none, or nobody says. */
  readonly cpuSeconds?: () => number | undefined
  countPlants(): Promise<number>
  drop(): Promise<void>
}

/** Makes databases of either engine, all of them on one disk. */
export interface Databases {
  make(engine: Contestant['engine']): Promise<Database>
  close(): Promise<void>
}

const COUNT = 'SELECT count(*) AS count FROM plants'

function countSqlitePlants(path: string): number {
  if (!existsSync(path)) return 0
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return Number(database.prepare(COUNT).get()?.count)
  } finally {
    database.close()
  }
}

/** What the disk has not written yet would slow down whoever is measured next. */
function copyWhole(source: string, path: string): void {
  copyFileSync(source, path, constants.COPYFILE_FICLONE)
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/**
 * A place for a file, in a folder of its own inside `folder`. It begins as a copy of `source`;
 * without one, who uses it makes the file.
 */
export function placeSqliteDatabase(folder: string, source?: string): Database {
  const ownFolder = mkdtempSync(join(folder, 'sqlite-'))
  const path = join(ownFolder, 'plants.db')
  if (source !== undefined) copyWhole(source, path)
  return {
    url: `sqlite:${path}`,
    countPlants: async () => countSqlitePlants(path),
    drop: async () => rmSync(ownFolder, { recursive: true }),
  }
}

/** PostgreSQL is started when it is first needed, and ends with this process at the latest. */
export function createDatabases(folder: string): Databases {
  // The data of PostgreSQL goes there too.
  process.env.TMPDIR = folder
  let starting: ReturnType<typeof startPostgres> | undefined
  return {
    async make(engine) {
      if (engine === 'sqlite') return placeSqliteDatabase(folder)
      // The tests' setting is smaller than PostgreSQL's own.
      starting ??= startPostgres(['shared_buffers=128MB'])
      const postgres = await starting
      const url = await postgres.createDatabase()
      await migratePostgresDatabase(url, false)
      const maintain = (text: string) => query(postgres.urlOf('postgres'), text)
      // What was written so far is not left for whoever is measured next.
      await maintain('CHECKPOINT')
      return {
        url,
        cpuSeconds: () => readProcessSeconds(postgres.pid()),
        countPlants: async () => Number((await query(url, COUNT))[0]?.count),
        async drop() {
          await maintain(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`)
        },
      }
    },
    async close() {
      await (await starting)?.stop()
    },
  }
}
