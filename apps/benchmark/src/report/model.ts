import { OURS } from '../contestants.ts'
import { roundsOf } from './curves.ts'
import type { Results } from './results.ts'
import { formatNumber, medianOf } from './statistics.ts'
import { table } from './tables.ts'

const CONNECTIONS = 64

const CORES = [2, 4, 8, 16, 32]

/** What one create costs, by the medians of the rounds. */
interface Costs {
  /** Processor time of the loop that serves, in µs. */
  readonly loopUs: number
  /** Processor time of the thread that commits, in µs. */
  readonly commitUs: number
  /** Time of the thread that commits, with its syncs, in µs. */
  readonly commitTimeUs: number
}

function costsOf(results: Results): Costs | undefined {
  const { commitThreads } = results
  const cpuUs = medianOf(roundsOf(results, OURS, CONNECTIONS).map((one) => one.cpuUs))
  const commitUs = medianOf(commitThreads.map((one) => one.cpuUs))
  const rate = medianOf(commitThreads.map(({ plantsPerSecond }) => plantsPerSecond))
  const costs = { loopUs: cpuUs - commitUs, commitUs, commitTimeUs: 1e6 / rate }
  return Object.values(costs).some(Number.isNaN) ? undefined : costs
}

/** What the costs say of larger machines, as Markdown; nothing where they were not measured. */
export function describeModel(results: Results): string[] {
  const costs = costsOf(results)
  if (costs === undefined) return []
  const { loopUs, commitUs, commitTimeUs } = costs
  const most = 1e6 / commitTimeUs
  const rows = [
    ['a: processor time of a loop for a create, µs', loopUs],
    ['t: processor time of the thread that commits, µs', commitUs],
    ['s: its time with its syncs, µs', commitTimeUs],
    ['1 ÷ s: what it stores at most, plants/s', most],
    ['a ÷ s: loops that fill it', loopUs / commitTimeUs],
    ...CORES.map((cores): [string, number] => [
      `min(cores ÷ (a + t), 1 ÷ s): ${cores} cores for the server alone, creates/s`,
      Math.min((cores * 1e6) / (loopUs + commitUs), most),
    ]),
  ] as const
  return [
    '### Larger machines\n',
    'Not measured, but calculated from the rows above. See [The model](#the-model).\n',
    table(
      ['For each create', ''],
      rows.map(([what, value]) => [what, formatNumber(value)]),
    ),
  ]
}
