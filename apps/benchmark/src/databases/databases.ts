import type { Database, Engine } from './database.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'
import { placeSqliteDatabase } from './sqlite.ts'

/** Makes databases of either engine, all of them on one disk. */
export interface Databases {
  make(engine: Engine): Promise<Database>
  close(): Promise<void>
}

/** PostgreSQL is started when it is first needed. */
export function createDatabases(folder: string): Databases {
  let postgres: Promise<PostgresServer> | undefined
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
