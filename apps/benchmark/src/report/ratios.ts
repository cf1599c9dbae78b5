import { contestants } from '../contestants.ts'
import type { ContestIds, Measurement } from '../measurement.ts'
import { roundsOf } from './curves.ts'
import type { Results } from './results.ts'
import { formatNumber, formatSummary, summarise } from './statistics.ts'

type Figure = 'rate' | 'processor time' | 'p50'

/** Of one contestant divided by another in the same round; what it shall be is about the median. */
interface Ratio {
  readonly figure: Figure
  readonly of: string
  readonly to: string
  readonly connections: number
  readonly ids: ContestIds
  readonly target: Target
}

/** What a figure shall be; nothing by default. */
export interface Target {
  readonly atLeast?: number | undefined
  readonly atMost?: number | undefined
}

const ratio = (
  figure: Figure,
  of: string,
  to: string,
  connections: number,
  target: Target = {},
): Ratio => ({ figure, of, to, connections, ids: 'random', target })

/** The same with random and with rising ids. */
const bothRatios = (...args: Parameters<typeof ratio>): Ratio[] => [
  ratio(...args),
  { ...ratio(...args), ids: 'rising' },
]

const ratios: readonly Ratio[] = [
  ...bothRatios('processor time', 'server', 'raw', 64, { atMost: 2 }),
  ...bothRatios('processor time', 'no-operations', 'raw', 64, { atMost: 1.7 }),
  ...bothRatios('processor time', 'fastify', 'raw', 64),
  ratio('rate', 'server', 'raw', 64, { atLeast: 0.45 }),
  ratio('rate', 'server-2-loops', 'server', 64, { atLeast: 1.25 }),
  ratio('rate', 'server-2-loops', 'server', 256, { atLeast: 1.25 }),
  ratio('processor time', 'server-2-loops', 'server', 64),
  ratio('p50', 'server-pinned', 'fastify-pinned', 1, { atMost: 1 }),
  ...bothRatios('rate', 'server', 'fastify', 64, { atLeast: 5 }),
  ratio('rate', 'server+2ms', 'fastify+2ms', 64),
  ratio('rate', 'no-store', 'fastify', 64),
  ratio('rate', 'server', 'no-store', 64),
  ratio('rate', 'server', 'one-sync', 1),
  ratio('rate', 'server', 'no-operations', 64, { atLeast: 0.9 }),
  ratio('rate', 'postgres', 'fastify-postgres', 64, { atLeast: 3 }),
  ratio('rate', 'no-store', 'fastify-postgres', 64),
  ratio('rate', 'postgres×2', 'postgres', 64, { atLeast: 1 }),
  ratio('rate', 'postgres×2', 'postgres', 256, { atLeast: 1 }),
]

const figures: Readonly<Record<Figure, (one: Measurement) => number>> = {
  rate: (one) => one.createsPerSecond,
  'processor time': (one) => one.cpuUs,
  p50: ({ latenciesMs: [p50 = Number.NaN] }) => p50,
}

const P50_LIMIT = 1.5

const COMMIT_THREAD_LEAST = 250_000

/** 200 MB */
const LOOP_MEMORY_LIMIT_MIB = 190

function titleOf(name: string): string | undefined {
  return contestants.find((one) => one.name === name)?.title
}

/** What, its median and range over the rounds, its target, and whether the median meets it. */
export function ratioRow(
  what: string,
  rounds: readonly number[],
  { atLeast, atMost }: Target,
): string[] {
  const summary = summarise(rounds)
  const cells = [what, formatSummary(summary)]
  if (atLeast !== undefined) {
    return [...cells, `≥ ${formatNumber(atLeast)}`, summary.median >= atLeast ? 'yes' : 'no']
  }
  if (atMost === undefined) return [...cells, '', '']
  return [...cells, `≤ ${formatNumber(atMost)}`, summary.median <= atMost ? 'yes' : 'no']
}

type Rounds = readonly Measurement[]

/** One value of each round of a contestant, with the same round of another. */
function inPairs(
  ones: Rounds,
  others: Rounds,
  divide: (one: Measurement, other: Measurement) => number,
): number[] {
  return ones.flatMap((one, index) => {
    const other = others[index]
    return other === undefined ? [] : [divide(one, other)]
  })
}

function describeRatio({ figure, of, to, connections, ids }: Ratio): string {
  const at = connections === 1 ? '1 connection' : `${connections} connections`
  const kind = ids === 'rising' ? ', rising ids' : ''
  return `${figure}: ${titleOf(of)} ÷ ${titleOf(to)}, ${at}${kind}`
}

/** What a loop more needs: three are more in the one server than in the other. */
function loopMemory(one: Measurement, other: Measurement): number {
  return (one.maxRssBytes - other.maxRssBytes) / 3 / 2 ** 20
}

/** What the thread that commits stores by itself. */
function commitThreadRow({ commitThreads }: Results, ids: ContestIds): string[] {
  const rates = commitThreads
    .filter((one) => one.ids === ids)
    .map(({ plantsPerSecond }) => plantsPerSecond)
  return ratioRow(
    `plants/s: the thread that commits to SQLite, by itself, batches of 256, ${ids} ids`,
    rates,
    { atLeast: COMMIT_THREAD_LEAST },
  )
}

/** Ratios from each round by itself, so that what the machine does to all cancels out. */
export function ratioRows(results: Results): string[][] {
  const rounds = (name: string, connections: number, ids?: ContestIds) =>
    roundsOf(results, name, connections, ids)
  const pairs = ratios.map((one) => {
    const of = figures[one.figure]
    const [ones, others] = [one.of, one.to].map((name) => rounds(name, one.connections, one.ids))
    const values = inPairs(
      ones ?? [],
      others ?? [],
      (dividend, divisor) => of(dividend) / of(divisor),
    )
    return ratioRow(describeRatio(one), values, one.target)
  })
  const lone = inPairs(rounds('server', 1), rounds('no-store', 1), (one, storeless) => {
    return figures.p50(one) / (figures.p50(storeless) + one.syncMs)
  })
  const memory = rounds('server', 256).map(({ maxRssBytes }) => maxRssBytes / 2 ** 20)
  const more = inPairs(rounds('server-4-loops', 256), rounds('server', 256), loopMemory)
  const atMost = LOOP_MEMORY_LIMIT_MIB
  const storeless = `(${titleOf('no-store')} + one sync)`
  return [
    ...pairs,
    ratioRow(`p50: ${titleOf('server')} ÷ ${storeless}, 1 connection`, lone, { atMost: P50_LIMIT }),
    commitThreadRow(results, 'random'),
    commitThreadRow(results, 'rising'),
    ratioRow(`memory in MiB: ${titleOf('server')}, 256 connections`, memory, { atMost }),
    ratioRow('memory in MiB: each further loop, 256 connections', more, { atMost }),
  ].filter(([, value]) => !value?.startsWith('–'))
}
