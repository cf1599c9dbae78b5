import { describeClient } from './client.ts'
import { describeEndurance } from './endurance.ts'
import { describeGrowth } from './growth.ts'
import { describeModel } from './model.ts'
import { drawPlots } from './plots.ts'
import type { Results } from './results.ts'
import { commitTables, costTable, latencyTable, rateTable, ratioTable, runTable } from './tables.ts'

const BEGIN = '<!-- Written by pnpm bench, down to the next comment like this one. -->'
const END = '<!-- Written by hand from here on. -->'

/** Everything that was measured, as Markdown. */
export function describeResults(results: Results): string {
  return [
    runTable(results),
    '### Ratios and targets\n',
    ratioTable(results),
    '### Rate\n',
    '![Rate by number of connections](performance/rate.svg)\n',
    rateTable(results),
    '### Latency\n',
    '![Latency by percentile](performance/latency.svg)\n',
    latencyTable(results, 64),
    latencyTable(results, 1),
    '### Commits\n',
    '![Cost by commit size](performance/commit.svg)\n',
    commitTables(results),
    '### Processor time and memory\n',
    costTable(results),
    ...describeModel(results),
    describeParts(results),
  ].join('\n')
}

/** The parts that were measured, as Markdown. */
export function describeParts({ parts: { endurance, growth, client } }: Results): string {
  return [
    ...(endurance ? ['### Endurance\n', describeEndurance(endurance)] : []),
    ...(growth ? ['### Growth\n', describeGrowth(growth)] : []),
    ...(client ? ['### The client\n', describeClient(client)] : []),
  ].join('\n')
}

/**
 * The page with these results in place of those that it has.
 * @throws when the page has lost one of its two comments
 */
export function renderPage(page: string, results: Results): string {
  const [before, , after] = page.split(new RegExp(`(?<=${BEGIN}\n)|(?=${END})`))
  if (before === undefined || after === undefined) throw new Error('a comment of the page is gone')
  return `${before}\n${describeResults(results)}\n${after}`
}

/** The files that belong to the page, by their paths beside it. */
export function renderFiles(page: string, results: Results): Record<string, string> {
  const plots = Object.entries(drawPlots(results))
  return Object.fromEntries([
    ['performance.md', renderPage(page, results)],
    ...plots.map(([name, svg]) => [`performance/${name}`, svg]),
  ])
}
