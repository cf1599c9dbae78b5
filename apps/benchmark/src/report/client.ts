import { CONCURRENCIES, clientContestants, clientRatios } from '../client/contestants.ts'
import type { ClientMeasurement } from '../measurement.ts'
import { ratioRow } from './ratios.ts'
import { describePartRun, describeRounds, type PartResults } from './results.ts'
import { formatNumber, formatSummary, summarise } from './statistics.ts'
import { table } from './tables.ts'

type ClientResults = PartResults<'client'>

type Figure = 'createsPerSecond' | 'cpuUs'

function roundsOf({ measurements }: ClientResults, name: string, concurrency: number) {
  return measurements.filter((one) => one.client === name && one.concurrency === concurrency)
}

function titleOf(name: string): string | undefined {
  return clientContestants.find((one) => one.name === name)?.title
}

/** One figure divided by the other of the same round. */
function divide(
  ones: readonly ClientMeasurement[],
  others: readonly ClientMeasurement[],
  figure: Figure,
): number[] {
  return ones.map((one, index) => one[figure] / (others[index]?.[figure] ?? Number.NaN))
}

function ratioRows(results: ClientResults): string[][] {
  return clientRatios.flatMap(([one, other, atLeast]) =>
    CONCURRENCIES.flatMap((concurrency) => {
      const [ones, others] = [one, other].map((name) => roundsOf(results, name, concurrency))
      const what = `${titleOf(one)} ÷ ${titleOf(other)}, ${concurrency} at once`
      const [rates, times] = (['createsPerSecond', 'cpuUs'] as const).map((figure) =>
        divide(ones ?? [], others ?? [], figure),
      )
      return [
        ratioRow(`rate: ${what}`, rates ?? [], { atLeast }),
        ratioRow(`processor time: ${what}`, times ?? [], {}),
      ]
    }),
  )
}

function rateRows(results: ClientResults): string[][] {
  return clientContestants.flatMap(({ name, title }) =>
    CONCURRENCIES.map((concurrency) => {
      const rounds = roundsOf(results, name, concurrency)
      const rate = summarise(rounds.map(({ createsPerSecond }) => createsPerSecond))
      const { median: cpu } = summarise(rounds.map(({ cpuUs }) => cpuUs))
      return [title, String(concurrency), formatSummary(rate), formatNumber(cpu)]
    }),
  )
}

/** What was measured of the client, as Markdown. */
export function describeClient(results: ClientResults): string {
  return [
    `${describePartRun(results.run)}, ${describeRounds(results.run)}, at a server that does nothing.\n`,
    table(['Ratio', 'median (min–max)', 'target', 'met'], ratioRows(results)),
    table(['Client', 'at once', 'creates/s', 'CPU µs/create'], rateRows(results)),
  ].join('\n')
}
