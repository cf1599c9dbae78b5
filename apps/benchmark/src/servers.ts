import { fileURLToPath } from 'node:url'
import { type Child, startOwn, startProgram } from './child.ts'
import type { Database } from './databases.ts'
import type { Target } from './measurement.ts'

/** A server that listens. */
export interface Server extends Pick<Child, 'pid' | 'stop'> {
  readonly target: Target
  /** How many plants it has stored; undefined where it keeps none that last. */
  readonly countPlants?: (() => Promise<number>) | undefined
}

/** Starts a server on an empty database. */
export type StartServer = (database: Database) => Promise<Server>

const LISTENING = /http:\/\/127\.0\.0\.1:(\d+)/

/** The built program of our server. */
const PROGRAM = fileURLToPath(import.meta.resolve('@plant-store/server/main.js'))

async function listen(child: Child, countPlants?: Server['countPlants']): Promise<Server> {
  const greeting = await child.waitFor(LISTENING)
  const token = /^ {2}(plant_\S+)$/m.exec(greeting)?.[1] ?? 'unused'
  const port = Number(LISTENING.exec(greeting)?.[1])
  const target = { port, path: '/plants', token, quotesIds: false }
  return { target, pid: child.pid, stop: child.stop, countPlants }
}

/** Our server, by its built program, with its default settings and a log of errors only. */
export function ours(program = PROGRAM): StartServer {
  const listening = ['--listen', '127.0.0.1:0', '--operations-listen', '127.0.0.1:0']
  const start = (...args: string[]) => startProgram(process.execPath, [program, ...args])
  return async ({ url, countPlants }) => {
    await start('migrate', '--database-url', url).end()
    const child = start('serve', '--database-url', url, ...listening, '--log-level', 'error')
    return listen(child, countPlants)
  }
}

/** A program of this package; one that `forgets` keeps plants in memory, or not at all. */
export function peer(program: string, how?: 'forgets'): StartServer {
  return ({ url, countPlants }) =>
    listen(startOwn(program, [url]), how === 'forgets' ? undefined : countPlants)
}
