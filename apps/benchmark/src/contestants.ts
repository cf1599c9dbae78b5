/** A server to measure, started anew in each round. */
export interface Contestant {
  readonly name: string
  /** What people read in tables and plots. */
  readonly title: string
  /** A program of this package, or of another one. */
  readonly program: string
  /** A module that the program loads first. */
  readonly preload?: string
  /** What follows the arguments that all programs of its kind share. */
  readonly arguments: readonly string[]
  /** Among which the connections are divided. */
  readonly processes: number
  readonly engine: 'sqlite' | 'postgres'
  /** Whether the database must hold afterwards what was answered 200, or nothing. */
  readonly isDurable: boolean
  readonly connections: readonly number[]
}

type Differences = Partial<Omit<Contestant, 'name' | 'title'>>

/** The numbers of connections at which the contestants of the plots are measured. */
export const CONNECTIONS = [1, 4, 16, 64, 256]

const PROGRAM = '@plant-store/server/main.js'

const peer = (name: string, title: string, differences: Differences = {}): Contestant => ({
  name,
  title,
  program: './peers/fastify.ts',
  arguments: [],
  processes: 1,
  engine: 'sqlite',
  isDurable: true,
  connections: CONNECTIONS,
  ...differences,
})

const ours = (name: string, title: string, differences: Differences = {}): Contestant =>
  peer(name, title, {
    program: PROGRAM,
    arguments: ['--operations-listen', '127.0.0.1:0'],
    ...differences,
  })

/** In the order of a round: what is compared stands together. */
export const contestants: readonly Contestant[] = [
  peer('raw', 'node:http (in memory)', { program: './peers/raw.ts', isDurable: false }),
  peer('fastify', 'Fastify (better-sqlite3)'),
  ours('no-store', 'Plant Store (no store)', {
    preload: './variants/no-store.ts',
    isDurable: false,
    connections: [1, 64],
  }),
  ours('server', 'Plant Store (SQLite)'),
  ours('one-sync', 'Plant Store (one write and sync)', {
    preload: './variants/one-sync.ts',
    isDurable: false,
    connections: [1],
  }),
  ours('no-operations', 'Plant Store (SQLite, no operations)', {
    arguments: ['--operations-listen', 'off'],
    connections: [64],
  }),
  ours('server+2ms', 'Plant Store (SQLite + 2 ms)', {
    preload: './variants/slow-commit.ts',
    connections: [64],
  }),
  peer('fastify+2ms', 'Fastify (better-sqlite3 + 2 ms)', {
    arguments: ['2'],
    connections: [64],
  }),
  peer('fastify-postgres', 'Fastify (pg)', { engine: 'postgres' }),
  ours('postgres', 'Plant Store (PostgreSQL)', { engine: 'postgres' }),
  ours('postgres×2', 'Plant Store ×2 (PostgreSQL)', {
    processes: 2,
    engine: 'postgres',
    connections: [64, 256],
  }),
]

export function isOurs({ program }: Contestant): boolean {
  return program === PROGRAM
}

/** Those of the plots: our server on either engine, then every peer. */
export const plotted = contestants
  .filter(({ connections }) => connections === CONNECTIONS)
  .toSorted((one, other) => Number(isOurs(other)) - Number(isOurs(one)))
