import { contestants } from '../contestants.ts'
import { roundsOf } from './curves.ts'
import type { Results } from './results.ts'
import { formatNumber, formatSummary, summarise } from './statistics.ts'

/** Whose rate is divided by whose, at how many connections, and at least what it shall be. */
const rateRatios: readonly (readonly [string, string, number, number?])[] = [
  ['server', 'raw', 64, 0.45],
  ['server', 'fastify', 64, 5],
  ['server+2ms', 'fastify+2ms', 64],
  ['no-store', 'fastify', 64],
  ['server', 'no-store', 64],
  ['server', 'one-sync', 1],
  ['server', 'no-operations', 64, 0.9],
  ['postgres', 'fastify-postgres', 64, 3],
  ['no-store', 'fastify-postgres', 64],
  ['postgres×2', 'postgres', 64, 1],
  ['postgres×2', 'postgres', 256, 1],
]

const P50_LIMIT = 1.5
const MEMORY_LIMIT_MIB = 250

function titleOf(name: string): string | undefined {
  return contestants.find((one) => one.name === name)?.title
}

/** What, its median and range over the rounds, its target, and whether the median meets it. */
export function ratioRow(
  what: string,
  rounds: readonly number[],
  { atLeast, atMost }: { atLeast?: number | undefined; atMost?: number },
): string[] {
  const summary = summarise(rounds)
  const cells = [what, formatSummary(summary)]
  if (atLeast !== undefined) {
    return [...cells, `≥ ${formatNumber(atLeast)}`, summary.median >= atLeast ? 'yes' : 'no']
  }
  if (atMost === undefined) return [...cells, '', '']
  return [...cells, `≤ ${formatNumber(atMost)}`, summary.median <= atMost ? 'yes' : 'no']
}

/** Ratios from each round by itself, so that what the machine does to all cancels out. */
export function ratioRows(results: Results): string[][] {
  const rounds = (name: string, connections: number) => roundsOf(results, name, connections)
  const rates = rateRatios.map(([one, other, connections, atLeast]) => {
    const divisors = rounds(other, connections)
    const values = rounds(one, connections).map(
      ({ createsPerSecond }, index) =>
        createsPerSecond / (divisors[index]?.createsPerSecond ?? Number.NaN),
    )
    const at = connections === 1 ? '1 connection' : `${connections} connections`
    return ratioRow(`rate: ${titleOf(one)} ÷ ${titleOf(other)}, ${at}`, values, { atLeast })
  })
  const storeless = rounds('no-store', 1)
  const lone = rounds('server', 1).map(({ latenciesMs: [p50 = Number.NaN], syncMs }, index) => {
    return p50 / ((storeless[index]?.latenciesMs[0] ?? Number.NaN) + syncMs)
  })
  const memory = rounds('server', 256).map(({ maxRssBytes }) => maxRssBytes / 2 ** 20)
  return [
    ...rates,
    ratioRow(
      `p50: ${titleOf('server')} ÷ (${titleOf('no-store')} + one sync), 1 connection`,
      lone,
      {
        atMost: P50_LIMIT,
      },
    ),
    ratioRow(`memory in MiB: ${titleOf('server')}, 256 connections`, memory, {
      atMost: MEMORY_LIMIT_MIB,
    }),
  ].filter(([, value]) => !value?.startsWith('–'))
}
