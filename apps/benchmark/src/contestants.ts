import { type Context, contestOf } from './contest.ts'
import type { Row } from './measurement.ts'
import { pocketbase } from './pocketbase.ts'
import { measureClient, measureImport, measureLoop } from './senders/contests.ts'
import { ours, peer, type StartServer } from './servers.ts'

/** What is measured once a round, as one or more rows of the table. */
export interface Contestant {
  readonly name: string
  measure(context: Context): Promise<Row[]>
}

const SQLITE = 'Plant Store (SQLite)'
const POSTGRES = 'Plant Store (PostgreSQL)'

const beside = (dividedBy: string, title: string) => ({ title, dividedBy })

const onSqlite = (name: string, title: string, start: StartServer) => ({
  name,
  measure: contestOf(beside(SQLITE, title), 'sqlite', start),
})

const onPostgres = (name: string, title: string, start: StartServer) => ({
  name,
  measure: contestOf(beside(POSTGRES, title), 'postgres', start),
})

/** In the order of a round. The programs are another build of our server, and PocketBase. */
export function contestantsWith(server?: string, pocket?: string): readonly Contestant[] {
  return [
    onSqlite('raw', 'node:http (keeps nothing)', peer('./peers/raw.ts', 'forgets')),
    onSqlite('express', 'Express (a Map)', peer('./peers/express.ts', 'forgets')),
    onSqlite('fastify', 'Fastify (better-sqlite3)', peer('./peers/fastify.ts')),
    ...(pocket === undefined ? [] : [onSqlite('pocketbase', 'PocketBase', pocketbase(pocket))]),
    {
      name: 'loop',
      measure: (context) => measureLoop(beside(SQLITE, 'SQLite in a bare loop'), context),
    },
    onSqlite('server', SQLITE, ours()),
    ...(server === undefined ? [] : [onSqlite('other', 'other build (SQLite)', ours(server))]),
    {
      name: 'import',
      measure: (context) => measureImport(beside(SQLITE, 'plant-store import'), context),
    },
    { name: 'client', measure: measureClient },
    onPostgres('fastify-postgres', 'Fastify (pg)', peer('./peers/fastify.ts')),
    onPostgres('postgres', POSTGRES, ours()),
    ...(server === undefined
      ? []
      : [onPostgres('other-postgres', 'other build (PostgreSQL)', ours(server))]),
  ]
}
