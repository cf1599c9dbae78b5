import type { Measurement } from '../measurement.ts'
import { medianOf } from './statistics.ts'

/** What one round says of a contestant; NaN where it was not measured. */
type Read = (contestant: string, connections: number, value: keyof Measurement) => number

interface Target {
  readonly about: string
  /** From the measurements of one round, so that what the machine does to all cancels out. */
  readonly measure: (read: Read) => number
  readonly isMet: (value: number) => boolean
  readonly bound: string
}

const RSS_LIMIT_MB = 250

const targets: readonly Target[] = [
  {
    about: 'creates/s at 64 connections, server ÷ raw node:http',
    measure: (read) => read('server', 64, 'createsPerSecond') / read('raw', 64, 'createsPerSecond'),
    isMet: (value) => value >= 0.45,
    bound: '≥ 0.45 (aim 0.6)',
  },
  {
    about: 'creates/s at 64 connections, server ÷ Fastify with a commit per request',
    measure: (read) =>
      read('server', 64, 'createsPerSecond') / read('fastify', 64, 'createsPerSecond'),
    isMet: (value) => value >= 5,
    bound: '≥ 5',
  },
  {
    about: 'p50 of a lone client, server ÷ (no-store + one fsync)',
    measure: (read) =>
      read('server', 1, 'p50Ms') / (read('no-store', 1, 'p50Ms') + read('server', 1, 'fsyncP50Ms')),
    isMet: (value) => value <= 1.5,
    bound: '≤ 1.5',
  },
  {
    about: 'max RSS of server at 256 connections, MB',
    measure: (read) => read('server', 256, 'maxRssBytes') / 2 ** 20,
    isMet: (value) => value <= RSS_LIMIT_MB,
    bound: `≤ ${RSS_LIMIT_MB}`,
  },
]

function readerOf(round: readonly Measurement[]): Read {
  return (contestant, connections, value) =>
    Number(
      round.find((one) => one.contestant === contestant && one.connections === connections)?.[
        value
      ],
    )
}

interface Found {
  readonly median: number
  readonly text: string
}

/** The median of a value over the rounds; undefined where no round has it. */
function findValue(
  measurements: readonly Measurement[],
  measure: Target['measure'],
): Found | undefined {
  const rounds = Map.groupBy(measurements, ({ round }) => round)
  const values = [...rounds.values()].map((round) => measure(readerOf(round)))
  const median = medianOf(values)
  if (Number.isNaN(median)) return undefined
  const range = `${Math.min(...values).toPrecision(3)}–${Math.max(...values).toPrecision(3)}`
  return { median, text: `${median.toPrecision(3)} (${range})` }
}

/** Each target with its measured value, and whether it is met. */
export function describeTargets(measurements: readonly Measurement[]): string {
  return targets
    .map(({ about, measure, isMet, bound }) => {
      const found = findValue(measurements, measure)
      if (found === undefined) return `${about}: not measured\n`
      const verdict = isMet(found.median) ? 'met' : 'NOT met'
      return `${about}: ${found.text}, target ${bound}: ${verdict}\n`
    })
    .join('')
}

const COMMIT_PLACES = [
  ['server', 'worker', 'the disk as it is'],
  ['server+2ms', 'worker+2ms', '2 ms longer commits'],
] as const

/** How commits on the main thread compare with commits in a worker thread. */
export function describeCommitPlaces(measurements: readonly Measurement[]): string {
  return COMMIT_PLACES.flatMap(([main, worker, disk]) =>
    [1, 64, 256].map((connections) => {
      const found = findValue(
        measurements,
        (read) =>
          read(main, connections, 'createsPerSecond') /
          read(worker, connections, 'createsPerSecond'),
      )
      return `${disk}, ${connections} connections: ${found?.text ?? 'not measured'}\n`
    }),
  ).join('')
}
