import { expect, test } from 'vitest'
import { Hour } from '../../../overview/hour.ts'
import { findNotices } from '../../../overview/notices.ts'
import type { OverviewReply, Series } from '../../../src/telemetry/overview/reply.ts'

const NOW = 10_000_000_000

const HOUR_S = 3_600

type Line = Pick<Series, 'name' | 'values'> & Partial<Series>

/** What the page finds in a reply with these lines and facts, of which each sample is 10 s apart. */
function noticesOf(lines: readonly Line[], facts: Readonly<Record<string, number>> = {}): string[] {
  const count = lines[0]?.values.length ?? 0
  const reply = {
    at: NOW,
    intervalMs: 10_000,
    times: Array.from({ length: count }, (_, index) => NOW - (count - index) * 10_000),
    series: lines.map((line) => ({ labels: {}, as: 'value', ...line })),
    facts: Object.entries(facts).map(([name, value]) => ({ name, labels: {}, value })),
  } as unknown as OverviewReply
  const hour = new Hour()
  hour.add(reply)
  return findNotices(hour, reply)
}

function creates(outcome: string, values: readonly number[]): Line {
  return { name: 'plant_store_creates_total', labels: { outcome }, as: 'rate', values }
}

test.each([
  ['plant_store_sqlite_log_bytes', 300e6, 'The write-ahead log has 300 MB.'],
  ['nodejs_eventloop_lag_p99_seconds', 0.3, 'The event loop is late by 300 ms.'],
  ['plant_store_postgres_pool_waiting', 2, '2 callers wait for a connection to PostgreSQL.'],
])('%s is worth a notice after a minute, not at once', (name, value, notice) => {
  expect(noticesOf([{ name, values: [0, ...Array(6).fill(value)] }])).toEqual([notice])
  expect(noticesOf([{ name, values: [0, ...Array(5).fill(value)] }])).toEqual([])
  expect(noticesOf([{ name, values: [...Array(6).fill(value), 0] }])).toEqual([])
})

test('little free disk is worth one at once', () => {
  const free = (values: readonly number[]) =>
    noticesOf([{ name: 'plant_store_sqlite_disk_free_bytes', values }])
  expect(free([5e9, 0.5e9])).toEqual(['Only 500 MB of disk are free.'])
  expect(free([0.5e9, 5e9])).toEqual([])
})

test('errors of the server are worth one from a hundredth of the replies, refusals are not', () => {
  const half = [creates('created', [50, 50]), creates('unavailable', [50, 50])]
  expect(noticesOf(half)).toEqual([expect.stringMatching(/^50 % of the replies/)])
  expect(noticesOf([creates('created', [99, 99]), creates('internal', [0.5, 0.5])])).toEqual([])
  expect(noticesOf([creates('created', [9, 9]), creates('invalid_token', [9, 9])])).toEqual([])
})

test.each([
  ['plant_store_next_token_end_timestamp_seconds', 13 * 24, 'A token ends in 13 days: rotate it.'],
  ['plant_store_next_token_end_timestamp_seconds', -1, 'A token has ended.'],
  ['plant_store_next_token_end_timestamp_seconds', 15 * 24, undefined],
  ['plant_store_last_backup_timestamp_seconds', -27, 'The last backup is 27 hours old.'],
  ['plant_store_last_backup_timestamp_seconds', -25, undefined],
])('%s in %i hours', (name, hours, notice) => {
  const facts = { [name]: NOW / 1_000 + hours * HOUR_S }
  expect(noticesOf([], facts)).toEqual(notice === undefined ? [] : [notice])
})
