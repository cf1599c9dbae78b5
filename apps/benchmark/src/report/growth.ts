import type { GrowthMeasurement } from '../measurement.ts'
import { drawPlot } from './plot.ts'
import { ratioRow, type Target } from './ratios.ts'
import { describeLoops, describePartRun, describeRounds, type PartResults } from './results.ts'
import { formatNumber, formatSummary, medianOf, percentileOf, summarise } from './statistics.ts'
import { table } from './tables.ts'

type GrowthResults = PartResults<'growth'>

type NewIds = GrowthMeasurement['ids']

const TITLES: Readonly<Record<NewIds, string>> = {
  'random-negative': 'random ids',
  rising: 'rising ids',
}

const IDS = ['random-negative', 'rising'] as const

/** Of the rate when empty, by how many plants are stored. */
const TARGETS: Readonly<Record<number, Target>> = { 1e7: { atLeast: 0.8 }, 1e8: { atLeast: 0.6 } }

function sizesOf({ measurements }: GrowthResults): number[] {
  return [...new Set(measurements.map(({ stored }) => stored))]
}

function formatSize(stored: number): string {
  return stored === 0 ? '0' : `10^${Math.log10(stored)}`
}

function roundsOf({ measurements }: GrowthResults, stored: number, ids: NewIds) {
  return measurements.filter((one) => one.stored === stored && one.ids === ids)
}

/** The rate of each round divided by that of the empty store in the same round. */
function ratesToEmpty(results: GrowthResults, stored: number, ids: NewIds): number[] {
  const empty = roundsOf(results, 0, ids)
  return roundsOf(results, stored, ids).map(
    ({ createsPerSecond }, index) =>
      createsPerSecond / (empty[index]?.createsPerSecond ?? Number.NaN),
  )
}

function ratioRows(results: GrowthResults): string[][] {
  return sizesOf(results).flatMap((stored) => {
    const target = TARGETS[stored]
    if (target === undefined) return []
    return IDS.map((ids) =>
      ratioRow(
        `rate: ${formatSize(stored)} stored ÷ none, ${TITLES[ids]}`,
        ratesToEmpty(results, stored, ids),
        target,
      ),
    )
  })
}

function sizeRow(rounds: readonly GrowthMeasurement[]): string[] {
  const numbers = [
    medianOf(rounds.map((one) => percentileOf(one, 50))),
    medianOf(rounds.map((one) => percentileOf(one, 99))),
    medianOf(rounds.map(({ cpuUs }) => cpuUs)),
    medianOf(rounds.flatMap(({ writtenBytes }) => writtenBytes ?? [])) / 2 ** 10,
    Math.max(...rounds.map(({ maxRssBytes }) => maxRssBytes)) / 2 ** 20,
    (rounds[0]?.fileBytes ?? 0) / 2 ** 20,
  ]
  return [
    formatSummary(summarise(rounds.map(({ createsPerSecond }) => createsPerSecond))),
    ...numbers.map((value) => formatNumber(value)),
  ]
}

/** What was measured on stores of several sizes, as Markdown. */
export function describeGrowth(results: GrowthResults): string {
  const rows = sizesOf(results).flatMap((stored) =>
    IDS.map((ids) => [formatSize(stored), TITLES[ids], ...sizeRow(roundsOf(results, stored, ids))]),
  )
  const figures = [
    'creates/s',
    'p50 ms',
    'p99 ms',
    'CPU µs/create',
    'KiB written/create',
    'max. MiB',
    'file in MiB',
  ]
  return [
    `${describePartRun(results.run)}, ${describeRounds(results.run)}, 64 connections, ${describeLoops(results)}.\n`,
    '![Rate by stored plants](performance/growth.svg)\n',
    table(['Ratio', 'median (min–max)', 'target', 'met'], ratioRows(results)),
    table(['Stored', 'new plants', ...figures], rows),
  ].join('\n')
}

/** Rates by what is stored already, as an SVG file. */
export function drawGrowth(results: GrowthResults): string {
  const sizes = sizesOf(results)
  return drawPlot({
    title: 'Rate by stored plants, 64 connections',
    xLabel: 'plants stored already',
    xTicks: sizes.map(formatSize),
    yLabel: 'creates per second ÷ those when empty',
    yScale: 'linear',
    series: IDS.map((ids) => ({
      title: TITLES[ids],
      look: ids === 'rising' ? 'blue' : 'green',
      isDashed: false,
      points: sizes.map((stored) => summarise(ratesToEmpty(results, stored, ids))),
    })),
  })
}
