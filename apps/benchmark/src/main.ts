import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startOwn } from './child.ts'
import { createDatabases } from './databases.ts'
import { makeDataFolder, measureSync } from './disk.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import { describeRun, renderPage } from './report/page.ts'
import { drawPlot } from './report/plot.ts'
import { type Round, renderTable } from './report/table.ts'

const PAGE = join(import.meta.dirname, '../../../docs/performance.md')
const PLOT = join(import.meta.dirname, '../../../docs/performance/rate.svg')

const ROUNDS = 5

/** Each contestant once a round, forth and back: a drift of the machine reaches all of them alike. */
async function measureRounds({ contestants, seconds }: Options, folder: string): Promise<Round[]> {
  const databases = createDatabases(folder)
  const load = startOwn('./load/load.ts')
  const rounds: Round[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    const rows: Round[number][] = []
    for (const { name, measure } of round % 2 === 1 ? contestants : contestants.toReversed()) {
      process.stderr.write(`round ${round} of ${ROUNDS}: ${name}\n`)
      rows.push(...(await measure({ seconds, databases, load })))
    }
    rounds.push(rows)
  }
  await load.stop()
  await databases.close()
  return rounds
}

// What this process has started ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

async function run(options: Options): Promise<void> {
  const folder = makeDataFolder()
  const about = describeRun(ROUNDS, options.seconds, measureSync(folder))
  const rounds = await measureRounds(options, folder)
  const results = `${about}\n${renderTable(rounds)}`
  process.stdout.write(results)
  if (!options.writes) return
  writeFileSync(PAGE, renderPage(readFileSync(PAGE, 'utf8'), results))
  writeFileSync(PLOT, drawPlot(rounds))
}

if (process.argv.includes('--help')) process.stdout.write(USAGE)
else await run(readOptions(process.argv.slice(2)))
