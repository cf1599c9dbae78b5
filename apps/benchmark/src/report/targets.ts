import type { Measurement } from '../measurement.ts'
import { findValue, type Read } from './rounds.ts'

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
    about: 'creates/s at 64 connections, on PostgreSQL ÷ Fastify with an INSERT per request',
    measure: (read) =>
      read('postgres', 64, 'createsPerSecond') / read('fastify-postgres', 64, 'createsPerSecond'),
    isMet: (value) => value >= 3,
    bound: '≥ 3',
  },
  {
    about: 'creates/s at 64 connections, two servers on PostgreSQL ÷ one',
    measure: (read) =>
      read('postgres×2', 64, 'createsPerSecond') / read('postgres', 64, 'createsPerSecond'),
    isMet: (value) => value >= 1,
    bound: '≥ 1',
  },
  {
    about: 'creates/s at 64 connections, server ÷ the same with its operations switched off',
    measure: (read) =>
      read('server', 64, 'createsPerSecond') / read('no-operations', 64, 'createsPerSecond'),
    isMet: (value) => value >= 0.9,
    bound: '≥ 0.9',
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
