import type { Child } from './child.ts'
import type { Database, Databases, Engine } from './databases.ts'
import type { LoadOrder, Row, SendResult } from './measurement.ts'
import type { Server, StartServer } from './servers.ts'
import { cpuSeconds, mostMib } from './usage.ts'

export const CONNECTIONS = [64, 256] as const

/**
 * The just-in-time compiler needs that many creates, and until then each costs up to five times as
 * much. Who is too slow for them waits for its disk, not for its code.
 */
const WARM_UP = { connections: 64, requests: 50_000 }

export interface Context {
  readonly seconds: number
  readonly databases: Databases
  readonly load: Child
}

export type Names = Pick<Row, 'title' | 'dividedBy'>

/** Warms a server up. @returns how many plants it has then */
export async function warmUp({ load, seconds }: Context, { target }: Server): Promise<number> {
  const order: LoadOrder = { target, seconds: 2 * seconds, ...WARM_UP }
  return (await load.ask<SendResult>(order)).plants
}

/** Starts a server on a database of its own, gives both to `use`, and stops it. */
export async function withServer<Result>(
  { databases }: Context,
  [engine, start]: readonly [Engine, StartServer],
  use: (server: Server, database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await databases.make(engine)
  const server = await start(database)
  const result = await use(server, database)
  await server.stop()
  await database.drop()
  return result
}

/** @throws when a response was wrong, or the database does not hold what was answered 200 */
export function contestOf(names: Names, engine: Engine, start: StartServer) {
  return (context: Context): Promise<Row[]> =>
    withServer(context, [engine, start], async (server, database) => {
      const { target, pid } = server
      let stored = await warmUp(context, server)
      const rows: Row[] = []
      for (const atOnce of CONNECTIONS) {
        const [before, databaseBefore] = [cpuSeconds(pid), cpuSeconds(database.pid)]
        const order: LoadOrder = { target, connections: atOnce, seconds: context.seconds }
        const seen = await context.load.ask<SendResult>(order)
        const cpuUs = ((cpuSeconds(pid) - before) / seen.plants) * 1e6
        const databaseCpuUs = ((cpuSeconds(database.pid) - databaseBefore) / seen.plants) * 1e6
        rows.push({ ...names, atOnce, ...seen, cpuUs, databaseCpuUs, mib: mostMib(pid) })
        stored += seen.plants
      }
      const found = await server.countPlants?.()
      if (found === undefined || found === stored) return rows
      throw new Error(`${stored} plants were answered 200 and ${found} are stored`)
    })
}
