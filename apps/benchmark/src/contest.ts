import { type Child, startChild } from './child.ts'
import { type Contestant, loadsOf, OURS, plotted } from './contestants.ts'
import type { Database, Databases } from './databases.ts'
import { measureSync } from './disk.ts'
import type {
  CommitCost,
  CommitMeasurement,
  CommitThreadCost,
  CommitThreadMeasurement,
  LoadOrder,
  LoadResult,
  Measurement,
} from './measurement.ts'
import { type Servers, startServers } from './servers.ts'

/**
 * For each process that shares the connections, whatever its speed: the just-in-time compiler needs
 * that many creates, and until then each costs up to five times as much. Who is too slow for them
 * waits for its disk, not for its code.
 */
const WARM_UP = { connections: 64, requests: 50_000, seconds: 12 }

export interface ContestOptions {
  readonly round: number
  readonly seconds: number
  /** On the disk that is measured. */
  readonly folder: string
  readonly databases: Databases
  readonly load: Child
}

/** @throws when a reply was wrong or is missing */
export async function applyLoad(load: Child, order: LoadOrder): Promise<LoadResult> {
  const result = await load.ask<LoadResult>(order)
  if (result.failures.length > 0) throw new Error(result.failures.join('\n'))
  return result
}

/** The order that warms up the processes of one contestant. */
export function warmUp(
  targets: LoadOrder['targets'],
  processes: number,
  seconds: number,
): LoadOrder {
  return {
    targets,
    connections: WARM_UP.connections,
    requests: WARM_UP.requests * processes,
    // A run too short for figures only shows that everything works.
    seconds: Math.min(WARM_UP.seconds, 10 * seconds) * processes,
  }
}

/** Processor time so far, in seconds. */
interface Spent {
  readonly server: number
  readonly main: number
  readonly database: number | undefined
}

/** What was spent for each create, in µs. */
function spentPerCreate(before: Spent, after: Spent, creates: number) {
  const perCreate = (from: number, to: number) => ((to - from) / creates) * 1e6
  const cpuUs = perCreate(before.server, after.server)
  const mainCpuUs = perCreate(before.main, after.main)
  const own = { cpuUs, mainCpuUs }
  if (before.database === undefined || after.database === undefined) return own
  return { ...own, databaseCpuUs: perCreate(before.database, after.database) }
}

/** Measures one contestant, listening already, with each of its loads. */
async function measureAll(
  contestant: Contestant,
  servers: Servers,
  database: Database,
  { round, seconds, folder, load }: ContestOptions,
) {
  const { targets } = servers
  const readSpent = async () => {
    const { cpuSeconds, mainCpuSeconds, maxRssBytes } = await servers.usage()
    const ofDatabase = { database: database.cpuSeconds?.() }
    return { server: cpuSeconds, main: mainCpuSeconds, ...ofDatabase, maxRssBytes }
  }
  const syncMs = measureSync(folder)
  let { acknowledged } = await applyLoad(load, warmUp(targets, contestant.processes, seconds))
  const measurements: Measurement[] = []
  // All are compared at these, and so are equally warm there.
  const loads = loadsOf(contestant)
  const first = loads.filter(({ connections }) => connections === WARM_UP.connections)
  for (const { connections, ids } of new Set([...first, ...loads])) {
    const before = await readSpent()
    const result = await applyLoad(load, { targets, connections, seconds, ids })
    const after = await readSpent()
    const { createsPerSecond, latenciesMs, loadCpuShare } = result
    acknowledged += result.acknowledged
    const seen = { createsPerSecond, latenciesMs, loadCpuShare }
    const spent = spentPerCreate(before, after, result.acknowledged)
    const about = { round, contestant: contestant.name, connections, ids }
    measurements.push({ ...about, ...seen, ...spent, maxRssBytes: after.maxRssBytes, syncMs })
  }
  measurements.sort((one, other) => one.connections - other.connections)
  return { acknowledged, measurements }
}

/**
 * Starts a contestant on a database, measures it, and stops it.
 * @param before how many plants the database holds already
 * @throws when the database does not hold what was answered 200
 */
export async function measureServers<Result extends { readonly acknowledged: number }>(
  contestant: Contestant,
  database: Database,
  measure: (servers: Servers) => Promise<Result>,
  before = 0,
): Promise<Result> {
  const servers = await startServers(contestant, database)
  try {
    const result = await measure(servers)
    await servers.stop()
    const { acknowledged } = result
    const stored = (await database.countPlants()) - before
    if (stored === (contestant.isDurable ? acknowledged : 0)) return result
    throw new Error(`${acknowledged} plants were answered 200 and ${stored} are stored`)
  } catch (error) {
    await servers.stop().catch(() => {})
    throw error
  }
}

async function measureCommits(
  { name }: Contestant,
  { url }: Database,
  { round, seconds }: ContestOptions,
): Promise<CommitMeasurement[]> {
  const child = startChild('./commit-cost.ts', [name, url, String(seconds / 3)])
  const costs = await child.receive<CommitCost[]>()
  await child.stop()
  return costs.map((cost) => ({ round, contestant: name, ...cost }))
}

async function measureCommitThread(
  _: Contestant,
  { url }: Database,
  { round, seconds }: ContestOptions,
): Promise<CommitThreadMeasurement[]> {
  const child = startChild('./commit-thread-cost.ts', [url, String(seconds)])
  const costs = await child.receive<CommitThreadCost[]>()
  await child.stop()
  return costs.map((cost) => ({ round, ...cost }))
}

/**
 * Measures a contestant on a database of its own; then, on another one, the commits of those in the
 * plots that have some, without HTTP.
 * @throws when a reply was wrong, or the database does not hold what was answered 200
 */
export async function holdContest(contestant: Contestant, options: ContestOptions) {
  const onDatabase = async <Result>(
    measure: (...args: [Contestant, Database, ContestOptions]) => Promise<Result>,
  ) => {
    const database = await options.databases.make(contestant.engine)
    try {
      return await measure(contestant, database, options)
    } finally {
      await database.drop()
    }
  }
  try {
    const { measurements } = await onDatabase((_, database) =>
      measureServers(contestant, database, (servers) =>
        measureAll(contestant, servers, database, options),
      ),
    )
    const hasCommits = contestant.isDurable && plotted.some(({ name }) => name === contestant.name)
    const hasThread = contestant.name === OURS
    return {
      measurements,
      commits: hasCommits ? await onDatabase(measureCommits) : [],
      commitThreads: hasThread ? await onDatabase(measureCommitThread) : [],
    }
  } catch (error) {
    throw new Error(`${contestant.name} failed`, { cause: error })
  }
}
