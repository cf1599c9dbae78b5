import type { Engine } from './databases/database.ts'

/** A server to measure: a program in contestants/, started anew in each round. */
export interface Contestant {
  readonly name: string
  readonly about: string
  readonly program: string
  /** What follows the database in the program's arguments. */
  readonly arguments: readonly string[]
  /** Among which the connections are divided. */
  readonly processes: number
  readonly engine: Engine
  /** Whether the database must hold afterwards what was answered 200. */
  readonly isDurable: boolean
  readonly connections: readonly number[]
  /** Measured only when this is asked for. */
  readonly experiment?: string
}

const SLOW_COMMIT_MS = '2'

const ours = {
  program: 'server.ts',
  arguments: ['as-it-is'],
  processes: 1,
  isDurable: true,
  connections: [1, 64, 256],
} as const

const peer = {
  arguments: [],
  processes: 1,
  isDurable: true,
  connections: [64],
} as const

const onSqlite: readonly Contestant[] = [
  {
    ...peer,
    name: 'raw',
    about: 'node:http, plants in a Map, no token',
    program: 'raw.ts',
    engine: 'sqlite',
    isDurable: false,
  },
  {
    ...peer,
    name: 'fastify',
    about: 'Fastify, better-sqlite3, one FULL commit per request, no token',
    program: 'fastify-sqlite.ts',
    engine: 'sqlite',
  },
  {
    ...ours,
    name: 'no-store',
    about: 'our server, whose store answers at once',
    arguments: ['no-store'],
    engine: 'sqlite',
    isDurable: false,
    connections: [1, 64],
  },
  { ...ours, name: 'server', about: 'our server on SQLite', engine: 'sqlite' },
  {
    ...ours,
    name: 'one-sync',
    about: 'our server, whose store writes one page and syncs it for each create',
    arguments: ['one-sync'],
    engine: 'sqlite',
    isDurable: false,
    connections: [1],
  },
  {
    ...peer,
    name: 'fastify+2ms',
    about: `fastify, each commit ${SLOW_COMMIT_MS} ms longer`,
    program: 'fastify-sqlite.ts',
    arguments: [SLOW_COMMIT_MS],
    engine: 'sqlite',
  },
  {
    ...ours,
    name: 'no-operations',
    about: 'our server, without its operations listener and what it measures',
    arguments: ['no-operations'],
    engine: 'sqlite',
    connections: [64],
  },
  {
    ...ours,
    name: 'no-docs',
    about: 'our server, without the OpenAPI document and its page',
    arguments: ['no-docs'],
    engine: 'sqlite',
    connections: [64],
  },
  {
    ...ours,
    name: 'main',
    about: 'our server, every commit on the main thread',
    arguments: ['main', '0'],
    engine: 'sqlite',
  },
  {
    ...ours,
    name: 'main+2ms',
    about: `main, each commit ${SLOW_COMMIT_MS} ms longer`,
    arguments: ['main', SLOW_COMMIT_MS],
    engine: 'sqlite',
  },
  {
    ...ours,
    name: 'worker+2ms',
    about: `our server, every commit in a worker thread and ${SLOW_COMMIT_MS} ms longer`,
    arguments: ['worker', SLOW_COMMIT_MS],
    engine: 'sqlite',
  },
]

const onPostgres: readonly Contestant[] = [
  {
    ...peer,
    name: 'fastify-postgres',
    about: 'Fastify, a pg pool of 10, one INSERT per request, no token',
    program: 'fastify-postgres.ts',
    engine: 'postgres',
  },
  {
    ...ours,
    name: 'postgres',
    about: 'our server on PostgreSQL',
    engine: 'postgres',
  },
  {
    ...ours,
    name: 'postgres×2',
    about: 'two of our servers on one PostgreSQL database',
    processes: 2,
    engine: 'postgres',
    connections: [64, 256],
  },
]

const FLIGHTS = 'postgres-flights'

/** As many commits beside each other as the last figure says, in one server and in two. */
const flights: readonly Contestant[] = [1, 2].flatMap((processes) =>
  [1, 2, 3, 4].map((count) => ({
    ...ours,
    name: `${processes === 1 ? 'flights' : 'flights×2'}-${count}`,
    about: `${processes} of our servers, up to ${count} commits at once in each`,
    arguments: ['flights', String(count)],
    processes,
    engine: 'postgres',
    connections: processes === 1 ? [1, 64, 256] : [64, 256],
    experiment: FLIGHTS,
  })),
)

/** In the order of a round: what is compared stands together. */
export const contestants: readonly Contestant[] = [...onSqlite, ...onPostgres, ...flights]
