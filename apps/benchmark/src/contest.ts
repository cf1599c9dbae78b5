import type { Child } from './child.ts'
import type { Database, Databases, Engine } from './databases.ts'
import type { LoadOrder, Row, SendResult } from './measurement.ts'
import type { Server, StartServer } from './servers.ts'
import { cpuSeconds, mostMib } from './usage.ts'

export const CONNECTIONS = [64, 256]

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

async function measureServer(names: Names, server: Server, database: Database, context: Context) {
  const { target, pid } = server
  const { load, seconds } = context
  const readCpu = () => [cpuSeconds(pid), cpuSeconds(database.pid ?? Number.NaN)]
  let stored = await warmUp(context, server)
  const rows: Row[] = []
  for (const atOnce of CONNECTIONS) {
    const before = readCpu()
    const order: LoadOrder = { target, connections: atOnce, seconds }
    const { plants, ...seen } = await load.ask<SendResult>(order)
    const [cpuUs = Number.NaN, databaseCpuUs = Number.NaN] = readCpu().map(
      (after, index) => ((after - (before[index] ?? Number.NaN)) / plants) * 1e6,
    )
    rows.push({ ...names, atOnce, ...seen, cpuUs, databaseCpuUs, mib: mostMib(pid) })
    stored += plants
  }
  return { rows, stored }
}

/** Starts a server on a database of its own, gives both to `use`, and stops it in any case. */
export async function withServer<Result>(
  { databases }: Context,
  [engine, start]: readonly [Engine, StartServer],
  use: (server: Server, database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await databases.make(engine)
  const server = await start(database)
  try {
    return await use(server, database)
  } finally {
    await server.stop()
    await database.drop()
  }
}

/** @throws when a response was wrong, or the database does not hold what was answered 200 */
export function contestOf(names: Names, engine: Engine, start: StartServer) {
  return (context: Context): Promise<Row[]> =>
    withServer(context, [engine, start], async (server, database) => {
      const { rows, stored } = await measureServer(names, server, database, context)
      const found = await server.countPlants?.()
      if (found === undefined || found === stored) return rows
      throw new Error(`${stored} plants were answered 200 and ${found} are stored`)
    })
}
