import type { Child } from '../child.ts'
import { applyLoad, measureServers, warmUp } from '../contest.ts'
import { serverWith } from '../contestants.ts'
import { type Database, placeSqliteDatabase } from '../databases.ts'
import { readWrittenBytes } from '../disk.ts'
import type { GrowthMeasurement } from '../measurement.ts'
import { runCommand } from '../program.ts'
import type { Servers } from '../servers.ts'
import { keepStore } from './stores.ts'

export const CONNECTIONS = 64

export const NEW_IDS = ['random-negative', 'rising'] as const

export interface GrowthOptions {
  readonly rounds: number
  readonly seconds: number
  readonly loops: number
  /** How many plants are stored already. */
  readonly sizes: readonly number[]
  /** On the disk that is measured. */
  readonly folder: string
  /** Where stores are kept from run to run, on the same disk. */
  readonly keptFolder: string
  readonly load: Child
  readonly onRound: (round: number, stored: number) => void
}

type About = Pick<GrowthMeasurement, 'round' | 'stored' | 'ids' | 'loops' | 'fileBytes'>

async function measure(about: About, servers: Servers, { seconds, folder, load }: GrowthOptions) {
  const { ids } = about
  const { targets } = servers
  const warm = await applyLoad(load, { ...warmUp(targets, 1, seconds), ids })
  const [before, writtenBefore] = [await servers.usage(), readWrittenBytes(folder)]
  const order = { targets, connections: CONNECTIONS, seconds, ids, firstId: warm.acknowledged + 1 }
  const { createsPerSecond, latenciesMs, acknowledged } = await applyLoad(load, order)
  const after = await servers.usage()
  const spent = {
    cpuUs: ((after.cpuSeconds - before.cpuSeconds) / acknowledged) * 1e6,
    maxRssBytes: after.maxRssBytes,
  }
  const writtenAfter = readWrittenBytes(folder)
  const written = writtenBefore !== undefined &&
    writtenAfter !== undefined && { writtenBytes: (writtenAfter - writtenBefore) / acknowledged }
  return {
    acknowledged: warm.acknowledged + acknowledged,
    measurement: { ...about, createsPerSecond, latenciesMs, ...spent, ...written },
  }
}

async function createToken({ url }: Database): Promise<string> {
  const printed = await runCommand(['token', 'create', '--name', 'load', '--database-url', url])
  return printed.trim()
}

/** The server is started for each kind of ids, and so measured before its daily check begins. */
async function measureSize(
  round: number,
  stored: number,
  options: GrowthOptions,
): Promise<GrowthMeasurement[]> {
  const kept = stored > 0 ? await keepStore(stored, options.keptFolder) : undefined
  const measurements: GrowthMeasurement[] = []
  for (const ids of NEW_IDS) {
    const database = placeSqliteDatabase(options.folder, kept?.path)
    try {
      const token = kept && (await createToken(database))
      const { loops } = options
      const about = { round, stored, ids, loops, fileBytes: kept?.bytes ?? 0 }
      const { measurement } = await measureServers(
        serverWith(loops),
        token === undefined ? database : { ...database, token },
        (servers) => measure(about, servers, options),
        stored,
      )
      measurements.push(measurement)
    } finally {
      await database.drop()
    }
  }
  return measurements
}

/**
 * Measures our server on copies of stores of each size, in each round.
 * @throws when a reply was wrong, or the database does not hold what was answered 200
 */
export async function holdGrowth(options: GrowthOptions): Promise<GrowthMeasurement[]> {
  const measurements: GrowthMeasurement[] = []
  for (let round = 1; round <= options.rounds; round++) {
    for (const stored of options.sizes) {
      options.onRound(round, stored)
      measurements.push(...(await measureSize(round, stored, options)))
    }
  }
  return measurements
}
