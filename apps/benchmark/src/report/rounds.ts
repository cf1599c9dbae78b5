import type { Measurement } from '../measurement.ts'
import { medianOf } from './statistics.ts'

/** What one round says of a contestant; NaN where it was not measured. */
export type Read = (contestant: string, connections: number, value: keyof Measurement) => number

function readerOf(round: readonly Measurement[]): Read {
  return (contestant, connections, value) =>
    Number(
      round.find((one) => one.contestant === contestant && one.connections === connections)?.[
        value
      ],
    )
}

export interface Found {
  readonly median: number
  readonly text: string
}

/** The median of a value over the rounds; undefined where no round has it. */
export function findValue(
  measurements: readonly Measurement[],
  measure: (read: Read) => number,
): Found | undefined {
  const rounds = Map.groupBy(measurements, ({ round }) => round)
  const values = [...rounds.values()].map((round) => measure(readerOf(round)))
  const median = medianOf(values)
  if (Number.isNaN(median)) return undefined
  const range = `${Math.min(...values).toPrecision(3)}–${Math.max(...values).toPrecision(3)}`
  return { median, text: `${median.toPrecision(3)} (${range})` }
}
