import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import type { Contestant } from './contestants.ts'
import { countPlants, measureFsync } from './disk.ts'
import type { Listening, LoadOrder, LoadResult, Measurement, Usage } from './measurement.ts'

/** Enough for the just-in-time compiler to settle on the fastest contestant and on the slowest. */
const WARM_UP = { connections: 64, seconds: 1.5 }

export interface ContestOptions {
  readonly round: number
  readonly seconds: number
  /** Where database files are made, each contestant's in a folder of its own. */
  readonly folder: string
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
  server: Child,
  listening: Listening,
  { round, seconds, load }: ContestOptions,
) {
  let acknowledged = (await applyLoad(load, { ...listening, ...WARM_UP })).acknowledged
  const measurements: Omit<Measurement, 'fsyncP50Ms'>[] = []
  for (const connections of contestant.connections) {
    const before = await server.ask<Usage>('usage')
    const result = await applyLoad(load, { ...listening, connections, seconds })
    const { cpuSeconds, maxRssBytes } = await server.ask<Usage>('usage')
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

/**
 * Starts a contestant, warms it up, measures it and stops it.
 * @throws when an answer was wrong, or a plant that was answered 200 is not in the database.
 */
export async function holdContest(
  contestant: Contestant,
  options: ContestOptions,
): Promise<Measurement[]> {
  const folder = mkdtempSync(join(options.folder, `${contestant.name}-`))
  const path = join(folder, 'plants.db')
  const fsyncP50Ms = measureFsync(folder)
  const server = startChild(`contestants/${contestant.program}`, [path, ...contestant.arguments])
  try {
    const listening = await server.receive<Listening>()
    const { acknowledged, measurements } = await measureAll(contestant, server, listening, options)
    await server.stop('stop')
    const stored = contestant.isDurable ? countPlants(path) : acknowledged
    if (stored < acknowledged) throw new Error(`${stored} of ${acknowledged} plants are stored`)
    return measurements.map((measurement) => ({ ...measurement, fsyncP50Ms }))
  } catch (error) {
    await server.stop('stop').catch(() => {})
    throw new Error(`${contestant.name} failed`, { cause: error })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
