/** A server to measure, started anew in each round. */
export interface Contestant {
  readonly name: string
  /** What people read in tables and plots. */
  readonly title: string
  /** A program of this package, or of another one. */
  readonly program: string
  /** A module that the program loads first. */
  readonly preload?: string
  /** What follows the arguments that all share. */
  readonly arguments: readonly string[]
  /** Among which the connections are divided. */
  readonly processes: number
  readonly engine: 'sqlite' | 'postgres'
  /** Whether the database must hold afterwards what was answered 200. */
  readonly isDurable: boolean
  readonly connections: readonly number[]
}

/** The numbers of connections at which the contestants of the plots are measured. */
export const CONNECTIONS = [1, 4, 16, 64, 256]

const SLOW_COMMIT_MS = '2'

const OPERATIONS_ANYWHERE = ['--operations-listen', '127.0.0.1:0']

const ours = {
  program: '@plant-store/server/main.js',
  arguments: OPERATIONS_ANYWHERE,
  processes: 1,
  engine: 'sqlite',
  isDurable: true,
  connections: CONNECTIONS,
} as const

const peer = {
  program: './peers/fastify.ts',
  arguments: [],
  processes: 1,
  engine: 'sqlite',
  isDurable: true,
  connections: CONNECTIONS,
} as const

/** In the order of a round: what is compared stands together. */
export const contestants: readonly Contestant[] = [
  {
    ...peer,
    name: 'raw',
    title: 'node:http, in memory',
    program: './peers/raw.ts',
    isDurable: false,
  },
  { ...peer, name: 'fastify', title: 'Fastify, better-sqlite3' },
  {
    ...ours,
    name: 'no-store',
    title: 'Plant Store without its store',
    preload: './variants/no-store.ts',
    isDurable: false,
    connections: [1, 64],
  },
  { ...ours, name: 'server', title: 'Plant Store, SQLite' },
  {
    ...ours,
    name: 'one-sync',
    title: 'Plant Store, one write and one sync instead of its store',
    preload: './variants/one-sync.ts',
    isDurable: false,
    connections: [1],
  },
  {
    ...ours,
    name: 'no-operations',
    title: 'Plant Store, SQLite, operations listener off',
    arguments: ['--operations-listen', 'off'],
    connections: [64],
  },
  {
    ...ours,
    name: 'server+2ms',
    title: `Plant Store, SQLite, commits ${SLOW_COMMIT_MS} ms longer`,
    preload: './variants/slow-commit.ts',
    connections: [64],
  },
  {
    ...peer,
    name: 'fastify+2ms',
    title: `Fastify, better-sqlite3, commits ${SLOW_COMMIT_MS} ms longer`,
    arguments: [SLOW_COMMIT_MS],
    connections: [64],
  },
  {
    ...peer,
    name: 'fastify-postgres',
    title: 'Fastify, pg',
    engine: 'postgres',
  },
  { ...ours, name: 'postgres', title: 'Plant Store, PostgreSQL', engine: 'postgres' },
  {
    ...ours,
    name: 'postgres×2',
    title: 'two Plant Stores, one PostgreSQL',
    processes: 2,
    engine: 'postgres',
    connections: [64, 256],
  },
]

export function isOurs({ program }: Contestant): boolean {
  return program === ours.program
}

/** Those of the plots: our server on either engine, then every peer. */
export const plotted = contestants
  .filter(({ connections }) => connections === CONNECTIONS)
  .toSorted((one, other) => Number(isOurs(other)) - Number(isOurs(one)))
