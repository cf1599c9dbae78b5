import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { startChild } from './child.ts'
import { holdContest } from './contest.ts'
import { makeDataFolder } from './data-folder.ts'
import { createDatabases } from './databases/databases.ts'
import { exitWith, watchForInterruption } from './failure.ts'
import type { Measurement } from './measurement.ts'
import { isUsageError, type Options, readOptions, USAGE } from './options.ts'
import { describeComparisons } from './report/comparisons.ts'
import { medianOf } from './report/statistics.ts'
import { describeMeasurements } from './report/table.ts'
import { describeTargets } from './report/targets.ts'

/** Each contestant once a round, so that a drift of the machine reaches all of them alike. */
async function measure({ rounds, seconds, contestants }: Options): Promise<Measurement[]> {
  const folder = makeDataFolder()
  const databases = createDatabases(folder)
  const load = startChild('load/load.ts')
  const measurements: Measurement[] = []
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const contestant of contestants) {
        process.stderr.write(`round ${round} of ${rounds}: ${contestant.name}\n`)
        const options = { round, seconds, folder, databases, load }
        measurements.push(...(await holdContest(contestant, options)))
      }
    }
    return measurements
  } finally {
    await load.stop()
    await databases.close()
  }
}

function describe({ rounds, seconds, contestants }: Options, measurements: Measurement[]): string {
  const fsyncP50Ms = medianOf(measurements.map((one) => one.fsyncP50Ms))
  return [
    `\nNode.js ${process.versions.node}, ${availableParallelism()} cores shared with the load; ` +
      `${rounds} rounds of ${seconds} s; pwrite(4 KiB) + fsync: p50 ${fsyncP50Ms.toFixed(3)} ms\n`,
    `\n${describeMeasurements(contestants, measurements)}`,
    `\nTargets: median of the rounds (min–max)\n${describeTargets(measurements)}`,
    describeComparisons(measurements),
  ].join('')
}

async function run(options: Options): Promise<void> {
  const measurements = await measure(options)
  process.stdout.write(describe(options, measurements))
  if (options.jsonFile !== undefined) {
    const { rounds, seconds } = options
    const about = { node: process.versions.node, cores: availableParallelism(), rounds, seconds }
    // pnpm runs this in the package's folder; a path is meant from where pnpm was called.
    const path = resolve(process.env.INIT_CWD ?? '', options.jsonFile)
    writeFileSync(path, `${JSON.stringify({ ...about, measurements }, undefined, 2)}\n`)
  }
}

watchForInterruption()
try {
  const options = readOptions(process.argv.slice(2))
  if (options === 'help') process.stdout.write(USAGE)
  else await run(options)
} catch (error) {
  exitWith(isUsageError(error) ? `${error.message}\n\n${USAGE}` : error)
}
