import type { Child } from './child.ts'
import type { Contestant } from './contestants.ts'
import type { Database } from './databases/database.ts'
import type { Databases } from './databases/databases.ts'
import { measureFsync } from './disk.ts'
import type { LoadOrder, LoadResult, Measurement } from './measurement.ts'
import { type Servers, startServers } from './servers.ts'

/**
 * For each process that shares the connections: the just-in-time compiler settles on our server
 * after 20,000 to 30,000 creates, and until then each costs up to twice as much.
 */
const WARM_UP = { connections: 64, seconds: 3 }

export interface ContestOptions {
  readonly round: number
  readonly seconds: number
  /** On the disk that is measured. */
  readonly folder: string
  readonly databases: Databases
  readonly load: Child
}

async function applyLoad(load: Child, order: LoadOrder): Promise<LoadResult> {
  const result = await load.ask<LoadResult>(order)
  if (result.failures.length > 0) throw new Error(result.failures.join('\n'))
  return result
}

/** Measures one contestant, listening already, at each of its numbers of connections. */
async function measureAll(
  contestant: Contestant,
  servers: Servers,
  { round, seconds, load }: ContestOptions,
) {
  const { targets } = servers
  const warmUp = { targets, ...WARM_UP, seconds: WARM_UP.seconds * contestant.processes }
  let { acknowledged } = await applyLoad(load, warmUp)
  const measurements: Omit<Measurement, 'fsyncP50Ms'>[] = []
  for (const connections of contestant.connections) {
    const before = await servers.usage()
    const result = await applyLoad(load, { targets, connections, seconds })
    const { cpuSeconds, maxRssBytes } = await servers.usage()
    acknowledged += result.acknowledged
    const { acknowledged: creates, failures: _, ...seen } = result
    const cpuSecondsPer1000 = ((cpuSeconds - before.cpuSeconds) / creates) * 1_000
    const { name } = contestant
    measurements.push({
      round,
      contestant: name,
      connections,
      ...seen,
      cpuSecondsPer1000,
      maxRssBytes,
    })
  }
  return { acknowledged, measurements }
}

async function measureOn(database: Database, contestant: Contestant, options: ContestOptions) {
  const servers = await startServers(contestant, database.address)
  try {
    const { acknowledged, measurements } = await measureAll(contestant, servers, options)
    await servers.stop()
    const stored = contestant.isDurable ? await database.countPlants() : acknowledged
    if (stored !== acknowledged) {
      throw new Error(`${acknowledged} plants were answered 200 and ${stored} are stored`)
    }
    return measurements
  } catch (error) {
    await servers.stop().catch(() => {})
    throw error
  }
}

/**
 * Starts a contestant on a database of its own, warms it up, measures it and stops it.
 * @throws when an answer was wrong, or the database does not hold what was answered 200.
 */
export async function holdContest(
  contestant: Contestant,
  options: ContestOptions,
): Promise<Measurement[]> {
  const fsyncP50Ms = measureFsync(options.folder)
  const database = await options.databases.make(contestant.engine)
  try {
    const measurements = await measureOn(database, contestant, options)
    return measurements.map((measurement) => ({ ...measurement, fsyncP50Ms }))
  } catch (error) {
    throw new Error(`${contestant.name} failed`, { cause: error })
  } finally {
    await database.drop()
  }
}
