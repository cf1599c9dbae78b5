import type { ContestIds } from './measurement.ts'

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
  /** Whether all threads of each process share one core, where the platform can say so. */
  readonly isPinned: boolean
  readonly engine: 'sqlite' | 'postgres'
  /** Whether the database must hold afterwards what was answered 200, or nothing. */
  readonly isDurable: boolean
  readonly connections: readonly number[]
  /** Those of them where it is measured with rising ids as well. */
  readonly risingConnections: readonly number[]
}

type Differences = Partial<Omit<Contestant, 'name' | 'title'>>

/** The numbers of connections at which the contestants of the plots are measured. */
export const CONNECTIONS = [1, 4, 16, 64, 256]

/** Where all that are compared with rising ids are measured with them. */
const RISING = { risingConnections: [64] }

/** The built program of our server, as an import names it. */
export const PROGRAM = '@plant-store/server/main.js'

const peer = (name: string, title: string, differences: Differences = {}): Contestant => ({
  name,
  title,
  program: './peers/fastify.ts',
  arguments: [],
  processes: 1,
  isPinned: false,
  engine: 'sqlite',
  isDurable: true,
  connections: CONNECTIONS,
  risingConnections: [],
  ...differences,
})

/** One event loop is what everything else is compared with. */
function serveArguments(loops = 1): readonly string[] {
  return ['--loops', String(loops), '--operations-listen', '127.0.0.1:0']
}

const ours = (name: string, title: string, differences: Differences = {}): Contestant =>
  peer(name, title, { program: PROGRAM, arguments: serveArguments(), ...differences })

/** The contestant that all ratios and targets are about. */
export const OURS = 'server'

/** Our server on SQLite, with so many event loops. */
export function serverWith(loops: number): Contestant {
  return ours(OURS, 'Plant Store (SQLite)', { arguments: serveArguments(loops), ...RISING })
}

/** In the order of a round: what is compared stands together. */
export const contestants: readonly Contestant[] = [
  peer('raw', 'node:http (in memory)', {
    program: './peers/raw.ts',
    isDurable: false,
    ...RISING,
  }),
  peer('fastify', 'Fastify (better-sqlite3)', RISING),
  ours('no-store', 'Plant Store (no store)', {
    preload: './variants/no-store.ts',
    isDurable: false,
    connections: [1, 64],
  }),
  serverWith(1),
  ours('one-sync', 'Plant Store (one write and sync)', {
    preload: './variants/one-sync.ts',
    isDurable: false,
    connections: [1],
  }),
  ours('no-operations', 'Plant Store (SQLite, no operations)', {
    arguments: ['--loops', '1', '--operations-listen', 'off'],
    connections: [64],
    ...RISING,
  }),
  ours('server-2-loops', 'Plant Store (SQLite, 2 loops)', {
    arguments: serveArguments(2),
    connections: [64, 256],
  }),
  ours('server-4-loops', 'Plant Store (SQLite, 4 loops)', {
    arguments: serveArguments(4),
    connections: [256],
  }),
  peer('fastify-pinned', 'Fastify (better-sqlite3, on one core)', {
    isPinned: true,
    connections: [1],
  }),
  ours('server-pinned', 'Plant Store (SQLite, on one core)', {
    isPinned: true,
    connections: [1],
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

/** What a contestant is measured with, in the order of the results. */
export function loadsOf({ connections: counts, risingConnections }: Contestant) {
  return counts.flatMap((connections) => {
    const ids: ContestIds[] = risingConnections.includes(connections)
      ? ['random', 'rising']
      : ['random']
    return ids.map((one) => ({ connections, ids: one }))
  })
}

export function isOurs({ program }: Contestant): boolean {
  return program === PROGRAM
}

/** Those of the plots: our server on either engine, then every peer. */
export const plotted = contestants
  .filter(({ connections }) => connections === CONNECTIONS)
  .toSorted((one, other) => Number(isOurs(other)) - Number(isOurs(one)))
