import type { OverviewReply } from '../src/telemetry/overview/reply.ts'
import { bytes, seconds, share, span, words } from './format.ts'
import type { Hour } from './hour.ts'
import { linesOf } from './plots.ts'
import { numberOf } from './values.ts'

const HOUR_MS = 3_600_000

const DAY_MS = 24 * HOUR_MS

const SAMPLES_OF_MINUTE = 6

const SERVER_ERRORS = ['internal', 'outcome_unknown', 'unavailable']

/** The newest value of a metric. */
function newest(hour: Hour, name: string): number | undefined {
  return hour.find(name, 'value')[0]?.values.at(-1) ?? undefined
}

/** The least of a metric in the last minute: a moment wakes nobody. */
function lately(hour: Hour, name: string): number {
  const values = hour.find(name, 'value')[0]?.values.slice(-SAMPLES_OF_MINUTE) ?? []
  const known = values.filter((value) => value !== null)
  return known.length < SAMPLES_OF_MINUTE ? 0 : Math.min(...known)
}

/** The mean of a rate over the last five minutes. */
function recentRate(hour: Hour, where: (outcome: string) => boolean): number {
  const line = { label: '', name: 'plant_store_creates_total', as: 'rate', where } as const
  const values = linesOf(hour, { lines: [line] })[0]?.values.slice(-30) ?? []
  const known = values.filter((value) => value !== null)
  return known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length)
}

function noticeErrors(hour: Hour): string | undefined {
  const failed = recentRate(hour, (outcome) => SERVER_ERRORS.includes(outcome))
  const all = recentRate(hour, () => true)
  if (failed <= all / 100) return undefined
  const part = words(share, failed / all)
  return `${part} of the replies of the last five minutes are errors of the server. The log says why.`
}

function noticeToken(reply: OverviewReply): string | undefined {
  const end = numberOf(reply, 'plant_store_next_token_end_timestamp_seconds')
  const left = (end ?? Number.POSITIVE_INFINITY) * 1_000 - reply.at
  if (left > 14 * DAY_MS) return undefined
  return left > 0 ? `A token ends in ${span(left)}: rotate it.` : 'A token has ended.'
}

function noticeBackup(reply: OverviewReply): string | undefined {
  const last = numberOf(reply, 'plant_store_last_backup_timestamp_seconds')
  const age = last === undefined ? 0 : reply.at - last * 1_000
  return age > 26 * HOUR_MS ? `The last backup is ${span(age)} old.` : undefined
}

/**
 * What an operator should look at although the server is ready, by the thresholds of
 * operations/alerts.yml, but within a minute.
 */
export function findNotices(hour: Hour, reply: OverviewReply): string[] {
  const free = newest(hour, 'plant_store_sqlite_disk_free_bytes')
  const log = lately(hour, 'plant_store_sqlite_log_bytes')
  const lag = lately(hour, 'nodejs_eventloop_lag_p99_seconds')
  const pool = lately(hour, 'plant_store_postgres_pool_waiting')
  const notices = [
    noticeErrors(hour),
    free !== undefined && free < 2 ** 30 && `Only ${words(bytes, free)} of disk are free.`,
    log > 2 ** 28 && `The write-ahead log has ${words(bytes, log)}.`,
    pool > 0 && `${pool} callers wait for a connection to PostgreSQL.`,
    lag > 0.25 && `The event loop is late by ${words(seconds, lag)}.`,
    noticeToken(reply),
    noticeBackup(reply),
  ]
  return notices.filter((notice) => typeof notice === 'string')
}
