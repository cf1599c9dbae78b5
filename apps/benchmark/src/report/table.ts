import type { Contestant } from '../contestants.ts'
import type { Measurement } from '../measurement.ts'
import { medianOf } from './statistics.ts'

const MEBIBYTE = 2 ** 20

const HEAD = [
  'contestant',
  'connections',
  'creates/s (min–max)',
  'p50 ms',
  'p99 ms',
  'server CPU s/1000',
  'max RSS MB',
  'load CPU',
]

function rowOf(measurements: readonly Measurement[]): string[] {
  const all = (read: (measurement: Measurement) => number) => measurements.map(read)
  const rates = all(({ createsPerSecond }) => createsPerSecond)
  const range = `${Math.min(...rates).toFixed(0)}–${Math.max(...rates).toFixed(0)}`
  const maxRssBytes = Math.max(...all((one) => one.maxRssBytes))
  return [
    measurements[0]?.contestant ?? '',
    String(measurements[0]?.connections),
    `${medianOf(rates).toFixed(0)} (${range})`,
    medianOf(all(({ p50Ms }) => p50Ms)).toFixed(2),
    medianOf(all(({ p99Ms }) => p99Ms)).toFixed(2),
    medianOf(all((one) => one.cpuSecondsPer1000)).toFixed(4),
    (maxRssBytes / MEBIBYTE).toFixed(0),
    `${(100 * medianOf(all(({ loadCpuShare }) => loadCpuShare))).toFixed(0)} %`,
  ]
}

function align(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const alignRow = (row: readonly string[]) =>
    row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    )
  return rows.map((row) => `${alignRow(row).join('  ')}\n`).join('')
}

/** One line for each contestant and number of connections, medians over the rounds. */
export function describeMeasurements(
  contestants: readonly Contestant[],
  measurements: readonly Measurement[],
): string {
  const rows = contestants.flatMap(({ name, connections }) =>
    connections.map((count) =>
      rowOf(measurements.filter((one) => one.contestant === name && one.connections === count)),
    ),
  )
  return align([HEAD, ...rows])
}
