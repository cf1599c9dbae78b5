import { type Context, contestOf } from './contest.ts'
import type { Engine } from './databases.ts'
import type { Row } from './measurement.ts'
import { pocketbase } from './pocketbase.ts'
import { measureClient, measureImport, measureLoop } from './senders/contests.ts'
import { ours, peer, type StartServer } from './servers.ts'

/** What is measured once a round, as one or more rows of the table. */
export interface Contestant {
  readonly name: string
  measure(context: Context): Promise<Row[]>
}

const OURS = { sqlite: 'Plant Store (SQLite)', postgres: 'Plant Store (PostgreSQL)' }

/** Nothing without a server to start. */
function serve(engine: Engine, name: string, title: string, start?: StartServer): Contestant[] {
  const names = { title, dividedBy: OURS[engine] }
  return start ? [{ name, measure: contestOf(names, engine, start) }] : []
}

/** In the order of a round. The programs are another build of our server, and PocketBase. */
export function contestantsWith(server?: string, pocket?: string): readonly Contestant[] {
  const other = server === undefined ? undefined : ours(server)
  const pocketBase = pocket === undefined ? undefined : pocketbase(pocket)
  const beside = (title: string) => ({ title, dividedBy: OURS.sqlite })
  return [
    ...serve('sqlite', 'raw', 'node:http (keeps nothing)', peer('./peers/raw.ts', 'forgets')),
    ...serve('sqlite', 'express', 'Express (a Map)', peer('./peers/express.ts', 'forgets')),
    ...serve('sqlite', 'fastify', 'Fastify (better-sqlite3)', peer('./peers/fastify.ts')),
    ...serve('sqlite', 'pocketbase', 'PocketBase', pocketBase),
    { name: 'loop', measure: (context) => measureLoop(beside('SQLite in a bare loop'), context) },
    ...serve('sqlite', 'server', OURS.sqlite, ours()),
    ...serve('sqlite', 'other', 'other build (SQLite)', other),
    { name: 'import', measure: (context) => measureImport(beside('plant-store import'), context) },
    { name: 'client', measure: measureClient },
    ...serve('postgres', 'fastify-postgres', 'Fastify (pg)', peer('./peers/fastify.ts')),
    ...serve('postgres', 'postgres', OURS.postgres, ours()),
    ...serve('postgres', 'other-postgres', 'other build (PostgreSQL)', other),
  ]
}
