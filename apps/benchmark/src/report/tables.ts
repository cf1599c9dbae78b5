import { CONNECTIONS, contestants, isOurs, loadsOf, plotted } from '../contestants.ts'
import { PERCENTILES, TOGETHER } from '../measurement.ts'
import { type Curve, commitCurves, latencyCurves, rateCurves, roundsOf } from './curves.ts'
import { ratioRows } from './ratios.ts'
import type { Results } from './results.ts'
import { formatNumber, formatSummary, type Summary, summarise } from './statistics.ts'

type Row = readonly string[]

/** A Markdown table with columns of even width; all but the first are aligned to the right. */
export function table(head: Row, rows: readonly Row[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  )
  const align = ([first, ...others]: Row) => [
    first?.padEnd(widths[0] ?? 0),
    ...others.map((cell, index) => cell.padStart(widths[index + 1] ?? 0)),
  ]
  const rule = widths.map((width, column) => `${'-'.repeat(width - 1)}${column === 0 ? '-' : ':'}`)
  return [align(head), rule, ...rows.map(align)].map((row) => `| ${row.join(' | ')} |\n`).join('')
}

/** The machine and the command. */
export function runTable({ run, measurements }: Results): string {
  const sync = summarise(measurements.map(({ syncMs }) => syncMs))
  const load = summarise(measurements.map(({ loadCpuShare }) => 100 * loadCpuShare))
  const rows = {
    command: `\`${run.command}\``,
    date: run.date,
    commit: run.commit,
    'Node.js': run.node,
    processor: `${run.cpu}, ${run.cores} cores for server, database and load`,
    memory: `${formatNumber(run.memoryBytes / 2 ** 30)} GiB`,
    kernel: run.kernel,
    'disk: write and sync of 4 KiB, ms': formatSummary(sync),
    'processor time of the load, % of a core': formatSummary(load),
    rounds: `${run.rounds}, ${run.seconds} s for each measurement`,
    duration: `${formatNumber(run.minutes)} minutes`,
  }
  return table(['Run', ''], Object.entries(rows))
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

/** Latencies, and each divided by that of our own server on the same engine. */
export function latencyTable(results: Results, connections: number): string {
  const curves = latencyCurves(results, connections)
  const rows = curves.map(({ contestant: { title, engine }, points }) => {
    const ours = curves.find(({ contestant: one }) => isOurs(one) && one.engine === engine)
    const cells = points.map(({ median }, index) => {
      const ratio = median / (ours?.points[index]?.median ?? Number.NaN)
      return `${formatNumber(median)} (${formatNumber(ratio, 2)})`
    })
    return [title, ...cells]
  })
  const at = connections === 1 ? '1 connection' : `${connections} connections`
  return table([`ms (÷ Plant Store), ${at}`, ...PERCENTILES.map((one) => `p${one}`)], rows)
}

export function commitTables(results: Results): string {
  const [cost, size] = [
    commitCurves(results, 'usPerPlant'),
    commitCurves(results, 'plantsPerCommit'),
  ]
  const median = (point: Summary) => formatNumber(point.median)
  return `${curveTable('µs for each plant, by plants that arrive together', TOGETHER, cost)}
${curveTable('Plants in each commit, by plants that arrive together', TOGETHER, size, median)}`
}

/** Those of the plots at 64 connections, the others at each of theirs. */
export function costTable(results: Results): string {
  const rows = contestants.flatMap((contestant) => {
    const { name, title } = contestant
    const isPlotted = plotted.includes(contestant)
    const loads = loadsOf(contestant).filter(({ connections }) => !isPlotted || connections === 64)
    return loads.flatMap(({ connections, ids }) => {
      const rounds = roundsOf(results, name, connections, ids)
      if (rounds.length === 0) return []
      const rate = summarise(rounds.map((one) => one.createsPerSecond))
      const { median: p50 } = summarise(rounds.map(({ latenciesMs: [p50 = Number.NaN] }) => p50))
      const { median: cpu } = summarise(rounds.map(({ cpuUs }) => cpuUs))
      const { median: main } = summarise(rounds.map(({ mainCpuUs }) => mainCpuUs))
      const { median: database } = summarise(
        rounds.flatMap(({ databaseCpuUs }) => databaseCpuUs ?? []),
      )
      const { high: rss } = summarise(rounds.map(({ maxRssBytes }) => maxRssBytes / 2 ** 20))
      const numbers = [p50, cpu, main, database, rss].map((value) => formatNumber(value))
      return [[title, String(connections), ids, formatSummary(rate), ...numbers]]
    })
  })
  const head = [
    'Server',
    'connections',
    'ids',
    'creates/s',
    'p50 ms',
    'CPU µs/create',
    'of the main thread',
    'of the database',
    'max. MiB',
  ]
  return table(head, rows)
}
