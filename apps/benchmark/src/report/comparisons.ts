import type { Measurement } from '../measurement.ts'
import { findValue } from './rounds.ts'

interface Comparison {
  readonly about: string
  /** The one whose creates/s are divided, and the one they are divided by. */
  readonly pairs: readonly (readonly [string, string])[]
}

const comparisons: readonly Comparison[] = [
  {
    about: 'Every commit on the main thread ÷ batches in a thread of their own, creates/s',
    pairs: [
      ['main', 'server'],
      ['main+2ms', 'worker+2ms'],
    ],
  },
  {
    about: 'Shared commits ÷ a commit per request, each 2 ms longer than it is, creates/s',
    pairs: [['worker+2ms', 'fastify+2ms']],
  },
  {
    about: 'The store ÷ the write and the sync that it cannot do without, creates/s',
    pairs: [['server', 'one-sync']],
  },
  {
    about: 'With the OpenAPI document and its page ÷ without, creates/s',
    pairs: [['server', 'no-docs']],
  },
  {
    about: 'Two servers on one PostgreSQL database ÷ one, creates/s',
    pairs: [['postgres×2', 'postgres']],
  },
  {
    about: 'Several commits at once ÷ one after the other, creates/s',
    pairs: ['flights', 'flights×2'].flatMap((name) =>
      [2, 3, 4].map((count) => [`${name}-${count}`, `${name}-1`] as const),
    ),
  },
]

const CONNECTIONS = [1, 64, 256]

function describePairs(
  { pairs }: Comparison,
  measurements: readonly Measurement[],
): readonly string[] {
  return pairs.flatMap(([one, other]) =>
    CONNECTIONS.flatMap((connections) => {
      const found = findValue(
        measurements,
        (read) =>
          read(one, connections, 'createsPerSecond') / read(other, connections, 'createsPerSecond'),
      )
      return found ? `${one} ÷ ${other}, ${connections} connections: ${found.text}\n` : []
    }),
  )
}

/** How ways to do the same compare, as far as they were measured. */
export function describeComparisons(measurements: readonly Measurement[]): string {
  return comparisons
    .map((comparison) => {
      const lines = describePairs(comparison, measurements)
      return lines.length > 0 ? `\n${comparison.about}\n${lines.join('')}` : ''
    })
    .join('')
}
