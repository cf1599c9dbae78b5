import type { EnduranceMeasurement } from '../measurement.ts'
import { drawPlot, type Series } from './plot.ts'
import { ratioRow } from './ratios.ts'
import { describeLoops, describePartRun, type PartResults } from './results.ts'
import { formatNumber, percentileOf } from './statistics.ts'
import { table } from './tables.ts'

type EnduranceResults = PartResults<'endurance'>

const P99_LIMIT_MS = 20
const MAX_LIMIT_MS = 300

/** 200 MB for each loop. */
const LOOP_MEMORY_LIMIT_MIB = 190

/** By how much the second half may need more memory than the first. */
const MEMORY_GROWTH_LIMIT = 1.1

const SHOWN = [50, 99, 99.9] as const

function minutesOf({ measurements }: EnduranceResults): EnduranceMeasurement[] {
  return measurements.filter(({ minute }) => minute > 0)
}

function targetRows(results: EnduranceResults): string[][] {
  const whole = results.measurements.filter(({ minute }) => minute === 0)
  const memory = minutesOf(results).map(({ rssBytes }) => rssBytes / 2 ** 20)
  const half = memory.length >> 1
  const halves =
    half === 0 ? [] : [Math.max(...memory.slice(half)) / Math.max(...memory.slice(0, half))]
  const loops = whole[0]?.loops ?? 1
  return [
    ratioRow(
      'p99 in ms',
      whole.map((one) => percentileOf(one, 99)),
      { atMost: P99_LIMIT_MS },
    ),
    ratioRow(
      'longest in ms',
      whole.map(({ maxMs }) => maxMs),
      { atMost: MAX_LIMIT_MS },
    ),
    ratioRow('most memory in MiB for each loop', [Math.max(...memory) / loops], {
      atMost: LOOP_MEMORY_LIMIT_MIB,
    }),
    ratioRow('most memory: second half ÷ first half', halves, {
      atMost: MEMORY_GROWTH_LIMIT,
    }),
  ]
    .filter(([, value]) => !value?.startsWith('–'))
    .map(([what = '', value = '', ...others]) => [what, value.replace(/ \(.*/, ''), ...others])
}

function minuteRow(one: EnduranceMeasurement): string[] {
  const percentiles = SHOWN.map((percent) => percentileOf(one, percent))
  const numbers = [one.createsPerSecond, ...percentiles, one.maxMs, one.rssBytes / 2 ** 20]
  const name = one.minute === 0 ? 'all' : String(one.minute)
  return [name, ...[...numbers, one.maxScrapeMs].map((value) => formatNumber(value))]
}

/** What was measured over minutes, as Markdown. */
export function describeEndurance(results: EnduranceResults): string {
  const head = ['Minute', 'creates/s', ...SHOWN.map((percent) => `p${percent} ms`), 'max. ms']
  return [
    `${describePartRun(results.run)}, 256 connections, ${describeLoops(results)}, a scrape each second, a backup each minute.\n`,
    '![Latency by minute](performance/endurance.svg)\n',
    table(['Over all minutes', 'value', 'target', 'met'], targetRows(results)),
    table([...head, 'MiB', 'longest scrape, ms'], results.measurements.map(minuteRow)),
  ].join('\n')
}

/** Latencies by minute, as an SVG file. */
export function drawEndurance(results: EnduranceResults): string {
  const minutes = minutesOf(results)
  const seriesOf = (
    title: string,
    look: Series['look'],
    latencyOf: (one: EnduranceMeasurement) => number,
    isDashed = false,
  ): Series => ({
    title,
    look,
    isDashed,
    points: minutes.map((one) => {
      const value = latencyOf(one)
      return { low: value, median: value, high: value }
    }),
  })
  return drawPlot({
    title: 'Latency by minute, 256 connections, with backups and scrapes',
    xLabel: 'minute',
    xTicks: minutes.map(({ minute }) => String(minute)),
    yLabel: 'ms, logarithmic',
    yScale: 'log',
    series: [
      seriesOf('longest', 'brown', ({ maxMs }) => maxMs, true),
      seriesOf('p99.9', 'brown', (one) => percentileOf(one, 99.9)),
      seriesOf('p99', 'blue', (one) => percentileOf(one, 99)),
      seriesOf('p50', 'green', (one) => percentileOf(one, 50)),
    ],
  })
}
