import type { Measurement } from '../measurement.ts'
import type { Results } from './results.ts'
import { formatNumber, formatSummary, summarise } from './statistics.ts'

/** A value of one round; NaN where it was not measured. */
type Read = (contestant: string, connections: number) => number

interface Readers {
  readonly rate: Read
  readonly p50: Read
  readonly sync: Read
  readonly rss: Read
}

interface Ratio {
  readonly what: string
  /** From one round, so that what the machine does to all cancels out. */
  readonly measure: (readers: Readers) => number
  readonly atLeast?: number
  readonly atMost?: number
}

function rateRatio(
  what: string,
  one: string,
  other: string,
  connections: number,
  atLeast?: number,
): Ratio {
  const measure = ({ rate }: Readers) => rate(one, connections) / rate(other, connections)
  const at = `${connections} ${connections === 1 ? 'connection' : 'connections'}`
  return { what: `${what}, ${at}`, measure, ...(atLeast && { atLeast }) }
}

const ratios: readonly Ratio[] = [
  rateRatio('rate, Plant Store ÷ node:http in memory', 'server', 'raw', 64, 0.45),
  rateRatio('rate, Plant Store ÷ Fastify and better-sqlite3', 'server', 'fastify', 64, 5),
  rateRatio('the same, each commit 2 ms longer', 'server+2ms', 'fastify+2ms', 64),
  rateRatio(
    'rate, Plant Store without its store ÷ Fastify and better-sqlite3',
    'no-store',
    'fastify',
    64,
  ),
  rateRatio('rate, Plant Store ÷ the same without its store', 'server', 'no-store', 64),
  rateRatio('rate, operations listener on ÷ off', 'server', 'no-operations', 64, 0.9),
  rateRatio(
    'rate, Plant Store on PostgreSQL ÷ Fastify and pg',
    'postgres',
    'fastify-postgres',
    64,
    3,
  ),
  rateRatio(
    'rate, Plant Store without its store ÷ Fastify and pg',
    'no-store',
    'fastify-postgres',
    64,
  ),
  rateRatio('rate, two Plant Stores on one PostgreSQL ÷ one', 'postgres×2', 'postgres', 64, 1),
  rateRatio('rate, two Plant Stores on one PostgreSQL ÷ one', 'postgres×2', 'postgres', 256, 1),
  rateRatio(
    'rate, Plant Store ÷ the same with one write and one sync as its store',
    'server',
    'one-sync',
    1,
  ),
  {
    what: 'p50, Plant Store ÷ (the same without its store + one sync), 1 connection',
    measure: ({ p50, sync }) => p50('server', 1) / (p50('no-store', 1) + sync('server', 1)),
    atMost: 1.5,
  },
  {
    what: 'memory of Plant Store on SQLite, 256 connections, MiB',
    measure: ({ rss }) => rss('server', 256) / 2 ** 20,
    atMost: 250,
  },
]

function readersOf(round: readonly Measurement[]): Readers {
  const reader =
    (value: (measurement: Measurement) => number | undefined): Read =>
    (contestant, connections) => {
      const found = round.find(
        (one) => one.contestant === contestant && one.connections === connections,
      )
      return (found && value(found)) ?? Number.NaN
    }
  return {
    rate: reader((one) => one.createsPerSecond),
    p50: reader(({ latenciesMs: [p50] }) => p50),
    sync: reader((one) => one.syncMs),
    rss: reader((one) => one.maxRssBytes),
  }
}

/** A row for each ratio that was measured: what, its median and range, its target, the verdict. */
export function ratioRows({ measurements }: Results): string[][] {
  const rounds = [...Map.groupBy(measurements, ({ round }) => round).values()].map(readersOf)
  return ratios.flatMap(({ what, measure, atLeast, atMost }) => {
    const summary = summarise(rounds.map(measure))
    const { median } = summary
    if (Number.isNaN(median)) return []
    const bound = atLeast ?? atMost
    if (bound === undefined) return [[what, formatSummary(summary), '', '']]
    const isMet = atLeast === undefined ? median <= bound : median >= bound
    const target = `${atLeast === undefined ? '≤' : '≥'} ${formatNumber(bound)}`
    return [[what, formatSummary(summary), target, isMet ? 'yes' : 'no']]
  })
}
