import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { type Child, startChild } from './child.ts'
import { holdContest } from './contest.ts'
import type { Measurement } from './measurement.ts'
import { type Options, readOptions, USAGE, UsageError } from './options.ts'
import { medianOf } from './report/statistics.ts'
import { describeMeasurements } from './report/table.ts'
import { describeCommitPlaces, describeTargets } from './report/targets.ts'

/** Beside the package, so that the disk measured is the one that holds the checkout. */
const DATA_FOLDER = join(import.meta.dirname, '../.data')

const INTERRUPTED = 130

function makeDataFolder(): string {
  mkdirSync(DATA_FOLDER, { recursive: true })
  const folder = mkdtempSync(join(DATA_FOLDER, 'run-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(INTERRUPTED))
  }
  return folder
}

/** Each contestant once a round, so that a drift of the machine reaches all of them alike. */
async function measure({ rounds, seconds, contestants }: Options, load: Child) {
  const folder = makeDataFolder()
  const measurements: Measurement[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const contestant of contestants) {
      process.stderr.write(`round ${round} of ${rounds}: ${contestant.name}\n`)
      measurements.push(...(await holdContest(contestant, { round, seconds, folder, load })))
    }
  }
  return measurements
}

function describe({ rounds, seconds, contestants }: Options, measurements: Measurement[]): string {
  const fsyncP50Ms = medianOf(measurements.map((one) => one.fsyncP50Ms))
  return [
    `\nNode.js ${process.versions.node}, ${availableParallelism()} cores shared with the load; ` +
      `${rounds} rounds of ${seconds} s; pwrite(4 KiB) + fsync: p50 ${fsyncP50Ms.toFixed(3)} ms\n`,
    `\n${describeMeasurements(contestants, measurements)}`,
    `\nTargets: median of the rounds (min–max)\n${describeTargets(measurements)}`,
    `\nCommits on the main thread ÷ in a worker thread, creates/s\n${describeCommitPlaces(measurements)}`,
  ].join('')
}

async function run(options: Options): Promise<void> {
  const load = startChild('load/load.ts')
  const measurements = await measure(options, load)
  await load.stop()
  process.stdout.write(describe(options, measurements))
  if (options.jsonFile !== undefined) {
    const { rounds, seconds } = options
    const about = { node: process.versions.node, cores: availableParallelism(), rounds, seconds }
    // pnpm runs this in the package's folder; a path is meant from where pnpm was called.
    const path = resolve(process.env.INIT_CWD ?? '', options.jsonFile)
    writeFileSync(path, `${JSON.stringify({ ...about, measurements }, undefined, 2)}\n`)
  }
}

function isUsageError(error: unknown): error is Error {
  const code = (error as { code?: unknown }).code
  return (
    error instanceof UsageError || (typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS'))
  )
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === 'help') process.stdout.write(USAGE)
  else await run(options)
} catch (error) {
  if (isUsageError(error)) process.stderr.write(`${error.message}\n\n${USAGE}`)
  else console.error(error)
  // exit, because the load generator would keep this process alive.
  process.exit(1)
}
