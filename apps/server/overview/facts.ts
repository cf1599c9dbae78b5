import type { OverviewReply } from '../src/telemetry/overview/reply.ts'
import { dayAndTime, span } from './format.ts'
import { numberOf, valuesOf } from './values.ts'

function describePast(reply: OverviewReply, metric: string): string {
  const seconds = numberOf(reply, metric)
  if (seconds === undefined) return 'never'
  return `${span(reply.at - seconds * 1_000)} ago, ${dayAndTime(seconds * 1_000)}`
}

function describeTokenEnd(reply: OverviewReply, metric: string): string {
  const seconds = numberOf(reply, metric)
  if (seconds === undefined) return '—'
  const left = seconds * 1_000 - reply.at
  const when = dayAndTime(seconds * 1_000)
  return left > 0 ? `in ${span(left)}, ${when}` : `ended ${when}`
}

type Describe = (reply: OverviewReply, metric: string) => string

interface Fact {
  readonly title: string
  readonly metric: string
  readonly describe: Describe
  /** What is shown where the server does not measure it; left out without. */
  readonly absent?: string
}

/** Each but the start has the title of its panel in operations/dashboard.json. */
export const FACTS: readonly Fact[] = [
  { title: 'Started', metric: 'process_start_time_seconds', describe: describePast },
  {
    title: 'Replies outcome_unknown',
    metric: 'plant_store_unknown_outcomes_total',
    describe: (reply, metric) => String(numberOf(reply, metric)),
  },
  {
    title: 'Next token ends',
    metric: 'plant_store_next_token_end_timestamp_seconds',
    describe: describeTokenEnd,
    absent: '—',
  },
  {
    title: 'Last backup',
    metric: 'plant_store_last_backup_timestamp_seconds',
    describe: describePast,
  },
]

/** Backups and checks of a database server are its own. */
function absentIn(reply: OverviewReply, { metric, absent }: Fact): string | undefined {
  const isOfFile = metric.includes('backup') || metric.includes('sqlite')
  const isFile = valuesOf(reply, 'plant_store_sqlite_database_bytes').size > 0
  return isOfFile && isFile ? 'never' : absent
}

/** A fact as it is shown. */
export interface ShownFact {
  readonly title: string
  readonly text: string
  /** Where it comes from. */
  readonly metric?: string
}

/** What the server is, and when what happened. */
export function factsOf(reply: OverviewReply): ShownFact[] {
  const measured = FACTS.flatMap((fact) => {
    const { title, metric, describe } = fact
    const isThere = valuesOf(reply, metric).size > 0
    const text = isThere ? describe(reply, metric) : absentIn(reply, fact)
    return text === undefined ? [] : [{ title, text, metric }]
  })
  const version = `${reply.version} on Node.js ${reply.node}`
  return [
    { title: 'Store', text: reply.store },
    { title: 'Version', text: version, metric: 'plant_store_build_info' },
    ...measured,
  ]
}
