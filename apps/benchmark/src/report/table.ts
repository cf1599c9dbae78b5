import type { Row } from '../measurement.ts'
import { formatMedian, formatRange } from './statistics.ts'

/** The rows that were measured in one round. */
export type Round = readonly Row[]

type Figure = (row: Row) => number | undefined

/** The values of a figure in all rounds. */
export function valuesOf(rounds: readonly Round[], one: Row, figure: Figure): number[] {
  return rounds.flatMap((round) =>
    round
      .filter((row) => row.title === one.title && row.atOnce === one.atOnce)
      .map((row) => figure(row) ?? Number.NaN),
  )
}

/** The values divided by those of another row, each within its round; none without such a row. */
function ratiosOf(rounds: readonly Round[], one: Row, figure: Figure): number[] {
  if (one.title === one.dividedBy) return []
  const others = valuesOf(rounds, { ...one, title: one.dividedBy }, figure)
  if (others.length === 0) return []
  return valuesOf(rounds, one, figure).map((value, index) => value / (others[index] ?? Number.NaN))
}

const rate: Figure = (row) => row.perSecond
const cpu: Figure = (row) => row.cpuUs

type Column = readonly [head: string, cell: (one: Row, rounds: readonly Round[]) => string]

const median = (head: string, figure: Figure): Column => [
  head,
  (one, rounds) => formatMedian(valuesOf(rounds, one, figure)),
]

const ratio = (figure: Figure): Column => [
  '÷',
  (one, rounds) => formatRange(ratiosOf(rounds, one, figure)),
]

const columns: readonly Column[] = [
  ['Measured', ({ title }) => title],
  ['at once', ({ atOnce }) => String(atOnce)],
  ['plants/s', (one, rounds) => formatRange(valuesOf(rounds, one, rate))],
  ratio(rate),
  median('p50 ms', (row) => row.p50Ms),
  median('p99 ms', (row) => row.p99Ms),
  median('CPU µs/plant', cpu),
  ratio(cpu),
  median('of the database', (row) => row.databaseCpuUs),
  median('MiB', (row) => row.mib),
]

/** The table as Markdown, aligned as the formatter of the page aligns it. */
export function renderTable(rounds: readonly Round[]): string {
  const cells = columns.map(([head, cell]) => [
    head,
    ...(rounds[0] ?? []).map((row) => cell(row, rounds)),
  ])
  const padded = cells.map((column, index) => {
    const width = Math.max(3, ...column.map(({ length }) => length))
    const isText = index === 0
    const [head = '', ...rest] = column.map((text) =>
      isText ? text.padEnd(width) : text.padStart(width),
    )
    return [head, isText ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`, ...rest]
  })
  const lines = (padded[0] ?? []).map((_, line) => padded.map((column) => column[line]).join(' | '))
  return lines.map((line) => `| ${line} |\n`).join('')
}
