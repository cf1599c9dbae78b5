import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startChild } from './child.ts'
import { holdContest } from './contest.ts'
import { createDatabases } from './databases.ts'
import { makeDataFolder } from './disk.ts'
import type { CommitMeasurement, CommitThreadMeasurement, Measurement } from './measurement.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import { measurePart } from './parts.ts'
import { describeParts, describeResults, renderFiles } from './report/page.ts'
import {
  describeRun,
  formatResults,
  type Parts,
  parseResults,
  type Results,
} from './report/results.ts'

const DOCS = join(import.meta.dirname, '../../../docs')

const INTERRUPTED = 130

/** Each contestant once a round, so that a drift of the machine reaches all of them alike. */
async function measureServers(options: Options): Promise<Omit<Results, 'run' | 'parts'>> {
  const folder = makeDataFolder()
  const databases = createDatabases(folder)
  const load = startChild('./load/load.ts')
  const measurements: Measurement[] = []
  const commits: CommitMeasurement[] = []
  const commitThreads: CommitThreadMeasurement[] = []
  try {
    for (let round = 1; round <= options.rounds; round++) {
      for (const contestant of options.contestants) {
        process.stderr.write(`round ${round} of ${options.rounds}: ${contestant.name}\n`)
        const context = { round, seconds: options.seconds, folder, databases, load }
        const measured = await holdContest(contestant, context)
        measurements.push(...measured.measurements)
        commits.push(...measured.commits)
        commitThreads.push(...measured.commitThreads)
      }
    }
  } finally {
    await load.stop()
    await databases.close()
  }
  return { measurements, commits, commitThreads }
}

const RESULTS = 'performance/results.jsonl'

/** What the page has already. */
function readResults(): Results {
  return parseResults(readFileSync(join(DOCS, RESULTS), 'utf8'))
}

async function measure(options: Options): Promise<Results> {
  const startedAt = performance.now()
  const begun = describeRun(options)
  const earlier = readResults()
  const servers = options.contestants.length > 0 ? await measureServers(options) : earlier
  const parts: Parts[] = []
  for (const part of options.parts) {
    const partStartedAt = performance.now()
    const measurements = await measurePart[part](options)
    const run = { ...begun, minutes: (performance.now() - partStartedAt) / 60_000 }
    parts.push({ [part]: { run, measurements } })
  }
  const run = { ...begun, minutes: (performance.now() - startedAt) / 60_000 }
  const results = {
    ...servers,
    run: options.contestants.length > 0 ? run : earlier.run,
    parts: Object.assign({}, ...parts),
  }
  // As they are read later: what is printed now is what the file says.
  return parseResults(formatResults(results))
}

function writePage(results: Results): void {
  mkdirSync(join(DOCS, 'performance'), { recursive: true })
  const page = readFileSync(join(DOCS, 'performance.md'), 'utf8')
  const files = {
    ...renderFiles(page, results),
    [RESULTS]: formatResults(results),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(DOCS, name), text)
  process.stderr.write('wrote docs/performance.md and docs/performance/\n')
}

function fail(reason: unknown): never {
  console.error(reason)
  // Whatever else would keep this process alive.
  process.exit(1)
}

function readCommandLine(): Options | 'help' {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    return fail(`${(error as Error).message}\n\n${USAGE}`)
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // What this process has started ends with it.
  process.once(signal, () => process.exit(INTERRUPTED))
}

const options = readCommandLine()
if (options === 'help') process.stdout.write(USAGE)
else {
  const results = await measure(options).catch(fail)
  const isServers = options.contestants.length > 0
  process.stdout.write(isServers ? describeResults(results) : describeParts(results))
  if (options.writesPage) {
    writePage({ ...results, parts: { ...readResults().parts, ...results.parts } })
  }
}
