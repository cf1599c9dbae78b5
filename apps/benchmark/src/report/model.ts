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
  /** Processor time of the thread that commits. */
  readonly commit: number
  /** Time of the thread that commits, with its syncs. */
  readonly commitTime: number
}

function costsOf(results: Results, ids: ContestIds): Costs {
  const threads = results.commitThreads.filter((one) => one.ids === ids)
  const rounds = roundsOf(results, OURS, CONNECTIONS, ids)
  return {
    loop: medianOf(rounds.map(({ mainCpuUs }) => mainCpuUs)),
    commit: medianOf(threads.map(({ cpuUs }) => cpuUs)),
    commitTime: 1e6 / medianOf(threads.map(({ plantsPerSecond }) => plantsPerSecond)),
  }
}

const ROWS: readonly (readonly [string, (costs: Costs) => number])[] = [
  ['t: processor time of the loop, µs', ({ loop }) => loop],
  ['p: processor time of the thread that commits, µs', ({ commit }) => commit],
  ['s: its time with its syncs, µs', ({ commitTime }) => commitTime],
  ['1 ÷ s: what it stores at most, plants/s', ({ commitTime }) => 1e6 / commitTime],
  ['t ÷ s: loops that fill it', ({ loop, commitTime }) => loop / commitTime],
  ...CORES.map(
    (cores) =>
      [
        `min(cores ÷ (t + p), 1 ÷ s): ${cores} cores for the server alone, creates/s`,
        ({ loop, commit, commitTime }: Costs) =>
          Math.min((cores * 1e6) / (loop + commit), 1e6 / commitTime),
      ] as const,
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
