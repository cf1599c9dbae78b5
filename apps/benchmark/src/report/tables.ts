import { CONNECTIONS, type Contestant, contestants, isOurs } from '../contestants.ts'
import { PERCENTILES, TOGETHER } from '../measurement.ts'
import {
  type Curve,
  costCurves,
  latencyCurves,
  rateCurves,
  roundsOf,
  sizeCurves,
} from './curves.ts'
import { LOADED } from './plots.ts'
import { ratioRows } from './ratios.ts'
import type { Results } from './results.ts'
import { formatNumber, formatSummary, type Summary, summarise } from './statistics.ts'

/** A Markdown table with columns of even width; all but the first are aligned to the right. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  )
  const align = (row: readonly string[]) =>
    widths.map((width, column) =>
      column === 0 ? row[0]?.padEnd(width) : row[column]?.padStart(width),
    )
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  )
  return [align(head), rule, ...rows.map(align)].map((row) => `| ${row.join(' | ')} |\n`).join('')
}

/** The machine and the command. */
export function runTable({ run, measurements }: Results): string {
  const sync = summarise(measurements.map(({ syncMs }) => syncMs))
  const load = summarise(measurements.map(({ loadCpuShare }) => 100 * loadCpuShare))
  return table(
    ['Run', ''],
    [
      ['command', `\`${run.command}\``],
      ['date', run.date],
      ['commit', run.commit],
      ['Node.js', run.node],
      ['processor', `${run.cpu}, ${run.cores} cores for server, database and load`],
      ['memory', `${formatNumber(run.memoryBytes / 2 ** 30)} GiB`],
      ['kernel', run.kernel],
      ['disk: write and sync of 4 KiB, ms', formatSummary(sync)],
      ['processor time of the load, % of a core', formatSummary(load)],
      ['rounds', `${run.rounds}, ${run.seconds} s for each measurement`],
      ['duration', `${formatNumber(run.minutes)} minutes`],
    ],
  )
}

export function ratioTable(results: Results): string {
  return table(['Ratio', 'median (min–max)', 'target', 'met'], ratioRows(results))
}

function curveTable(
  corner: string,
  ticks: readonly number[],
  curves: readonly Curve[],
  format: (point: Summary) => string = formatSummary,
): string {
  const rows = curves.map(({ contestant, points }) => [contestant.title, ...points.map(format)])
  return table([corner, ...ticks.map(String)], rows)
}

export function rateTable(results: Results): string {
  return curveTable('Creates/s, by connections', CONNECTIONS, rateCurves(results))
}

/** Latencies, and how many times our own on the same engine they are. */
export function latencyTable(results: Results, connections: number): string {
  const curves = latencyCurves(results, connections)
  const rows = curves.map(({ contestant, points }) => {
    const ours = curves.find(
      (one) => isOurs(one.contestant) && one.contestant.engine === contestant.engine,
    )
    const cells = points.map(({ median }, index) => {
      const ratio = median / (ours?.points[index]?.median ?? Number.NaN)
      return `${formatNumber(median)} (${formatNumber(ratio, 2)})`
    })
    return [contestant.title, ...cells]
  })
  const head = `ms (÷ Plant Store), ${connections} ${connections === 1 ? 'connection' : 'connections'}`
  return table([head, ...PERCENTILES.map((percent) => `p${percent}`)], rows)
}

export function commitTable(results: Results): string {
  return curveTable(
    'µs for each plant, by plants that arrive together',
    TOGETHER,
    costCurves(results),
  )
}

export function commitSizeTable(results: Results): string {
  return curveTable(
    'Plants in each commit, by plants that arrive together',
    TOGETHER,
    sizeCurves(results),
    ({ median }) => formatNumber(median),
  )
}

function costRow(results: Results, contestant: Contestant, connections: number): string[] {
  const rounds = roundsOf(results, contestant, connections)
  const { median: cpu } = summarise(rounds.map(({ cpuUs }) => cpuUs))
  const { high: rss } = summarise(rounds.map(({ maxRssBytes }) => maxRssBytes))
  return [
    contestant.title,
    String(connections),
    formatSummary(summarise(rounds.map((one) => one.createsPerSecond))),
    formatNumber(cpu),
    formatNumber(rss / 2 ** 20),
  ]
}

/** Everybody at 64 connections, or at 1 where that is all; processor time and memory of the server alone. */
export function costTable(results: Results): string {
  const rows = contestants.map((one) =>
    costRow(results, one, one.connections.includes(LOADED) ? LOADED : 1),
  )
  return table(
    ['Server', 'connections', 'creates/s', 'CPU µs/create', 'max. MiB'],
    rows.filter(([, , rate]) => !rate?.startsWith('–')),
  )
}
