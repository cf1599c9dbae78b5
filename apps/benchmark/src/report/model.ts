import { OURS } from '../contestants.ts'
import type { ContestIds } from '../measurement.ts'
import { roundsOf } from './curves.ts'
import type { Results } from './results.ts'
import { formatNumber, medianOf } from './statistics.ts'
import { table } from './tables.ts'

const CONNECTIONS = 64

const CORES = [2, 4, 8, 16, 32]

/** What one create costs, by the medians of the rounds, in µs. */
interface Costs {
  /** Processor time of the loop. */
  readonly loop: number
  /** Processor time of all threads. */
  readonly all: number
  /** Time of the thread that commits, with its syncs. */
  readonly commit: number
  /** Of that, processor time. */
  readonly commitCpu: number
}

function costsOf(results: Results, ids: ContestIds): Costs {
  const threads = results.commitThreads.filter((one) => one.ids === ids)
  const rounds = roundsOf(results, OURS, CONNECTIONS, ids)
  return {
    loop: medianOf(rounds.map(({ mainCpuUs }) => mainCpuUs)),
    all: medianOf(rounds.map(({ cpuUs }) => cpuUs)),
    commit: 1e6 / medianOf(threads.map(({ plantsPerSecond }) => plantsPerSecond)),
    commitCpu: medianOf(threads.map(({ cpuUs }) => cpuUs)),
  }
}

type Row = readonly [string, (costs: Costs) => number]

const ROWS: readonly Row[] = [
  ['t: processor time of the loop, µs', ({ loop }) => loop],
  ['u: processor time of all threads, µs', ({ all }) => all],
  ['s: time of the thread that commits, µs', ({ commit }) => commit],
  ['of s: processor time, µs', ({ commitCpu }) => commitCpu],
  ['1 ÷ s: what that thread stores at most, plants/s', ({ commit }) => 1e6 / commit],
  ['t ÷ s: loops that fill it', ({ loop, commit }) => loop / commit],
  ...CORES.map(
    (cores): Row => [
      `min(cores ÷ u, 1 ÷ s): ${cores} cores for the server alone, creates/s`,
      ({ all, commit }) => Math.min((cores * 1e6) / all, 1e6 / commit),
    ],
  ),
]

/** What the costs say of larger machines, as Markdown; nothing where they were not measured. */
export function describeModel(results: Results): string[] {
  const costs = (['random', 'rising'] as const).map((ids) => costsOf(results, ids))
  if (costs.some((one) => Object.values(one).some(Number.isNaN))) return []
  return [
    '### Larger machines\n',
    'Not measured, but calculated from the rows above. See [The model](#the-model).\n',
    table(
      ['For each create', 'random ids', 'rising ids'],
      ROWS.map(([what, calculate]) => [what, ...costs.map((one) => formatNumber(calculate(one)))]),
    ),
  ]
}
