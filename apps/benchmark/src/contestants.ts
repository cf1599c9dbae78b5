/** A server to measure: a program in contestants/, started anew in each round. */
export interface Contestant {
  readonly name: string
  readonly about: string
  readonly program: string
  /** What follows the database file in the program's arguments. */
  readonly arguments: readonly string[]
  readonly connections: readonly number[]
  readonly isDurable: boolean
}

const SLOW_COMMIT_MS = '2'

/** In the order of a round: what is compared stands together. */
export const contestants: readonly Contestant[] = [
  {
    name: 'raw',
    about: 'node:http, plants in a Map, no token',
    program: 'raw.ts',
    arguments: [],
    connections: [64],
    isDurable: false,
  },
  {
    name: 'fastify',
    about: 'Fastify, better-sqlite3, one FULL commit per request, no token',
    program: 'fastify.ts',
    arguments: [],
    connections: [64],
    isDurable: true,
  },
  {
    name: 'no-store',
    about: 'our server, whose store answers at once',
    program: 'server.ts',
    arguments: ['no-store'],
    connections: [1, 64],
    isDurable: false,
  },
  {
    name: 'server',
    about: 'our server, commits on the main thread',
    program: 'server.ts',
    arguments: ['as-it-is'],
    connections: [1, 64, 256],
    isDurable: true,
  },
  {
    name: 'worker',
    about: 'our server, commits in a worker thread',
    program: 'server.ts',
    arguments: ['worker', '0'],
    connections: [1, 64, 256],
    isDurable: true,
  },
  {
    name: 'server+2ms',
    about: `server, each commit ${SLOW_COMMIT_MS} ms longer`,
    program: 'server.ts',
    arguments: ['main', SLOW_COMMIT_MS],
    connections: [1, 64, 256],
    isDurable: true,
  },
  {
    name: 'worker+2ms',
    about: `worker, each commit ${SLOW_COMMIT_MS} ms longer`,
    program: 'server.ts',
    arguments: ['worker', SLOW_COMMIT_MS],
    connections: [1, 64, 256],
    isDurable: true,
  },
]
