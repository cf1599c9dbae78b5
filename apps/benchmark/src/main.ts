import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startChild } from './child.ts'
import { holdContest, measureCommits } from './contest.ts'
import { contestants } from './contestants.ts'
import { createDatabases } from './databases.ts'
import { makeDataFolder } from './disk.ts'
import type { CommitMeasurement, Measurement } from './measurement.ts'
import { isUsageError, type Options, readOptions, USAGE } from './options.ts'
import { describeResults, renderFiles } from './report/page.ts'
import { describeRun, formatResults, parseResults, type Results } from './report/results.ts'

const DOCS = join(import.meta.dirname, '../../../docs')

const INTERRUPTED = 130

/** Each contestant once a round, so that a drift of the machine reaches all of them alike. */
async function measure(options: Options): Promise<Results> {
  const run = describeRun(options)
  const startedAt = performance.now()
  const folder = makeDataFolder()
  const databases = createDatabases(folder)
  const load = startChild('./load/load.ts')
  const measurements: Measurement[] = []
  const commits: CommitMeasurement[] = []
  try {
    for (let round = 1; round <= options.rounds; round++) {
      for (const contestant of options.contestants) {
        process.stderr.write(`round ${round} of ${options.rounds}: ${contestant.name}\n`)
        const context = { round, seconds: options.seconds, folder, databases, load }
        measurements.push(...(await holdContest(contestant, context)))
        commits.push(...(await measureCommits(contestant, context)))
      }
    }
  } finally {
    await load.stop()
    await databases.close()
  }
  const minutes = (performance.now() - startedAt) / 60_000
  // As they are read later: what is printed now is what the file says.
  return parseResults(formatResults({ run: { ...run, minutes }, measurements, commits }))
}

function writePage(results: Results): void {
  mkdirSync(join(DOCS, 'performance'), { recursive: true })
  const page = readFileSync(join(DOCS, 'performance.md'), 'utf8')
  const files = {
    ...renderFiles(page, results),
    'performance/results.jsonl': formatResults(results),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(DOCS, name), text)
  process.stderr.write('wrote docs/performance.md and docs/performance/\n')
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // What this process has started ends with it.
  process.once(signal, () => process.exit(INTERRUPTED))
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === 'help') process.stdout.write(USAGE)
  else {
    const results = await measure(options)
    process.stdout.write(describeResults(results))
    if (options.contestants === contestants) writePage(results)
  }
} catch (error) {
  console.error(isUsageError(error) ? `${error.message}\n\n${USAGE}` : error)
  // Whatever else would keep this process alive.
  process.exit(1)
}
