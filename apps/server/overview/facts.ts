import type { OverviewReply } from '../src/operations/overview/reply.ts'
import { element } from './element.ts'
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

function describeEnds(reply: OverviewReply, metric: string): string {
  const ends = [...valuesOf(reply, metric)].filter(([, count]) => count > 0)
  return ends.map(([reason, count]) => `${reason} ${count}`).join(', ') || 'none'
}

function describeCheck(reply: OverviewReply, metric: string): string {
  const when = describePast(reply, metric)
  const isDamaged = numberOf(reply, 'plant_store_sqlite_damaged') === 1
  return isDamaged ? `${when}: damaged pages` : when
}

function describeCopy(reply: OverviewReply, metric: string): string {
  if (numberOf(reply, 'plant_store_copy_complete') === 1) return 'complete'
  return `${numberOf(reply, metric) ?? 0} plants behind`
}

type Describe = (reply: OverviewReply, metric: string) => string

interface Fact {
  readonly title: string
  readonly metric: string
  readonly describe: Describe
  /** What is shown where the server does not measure it; left out without. */
  readonly absent?: string
}

const FACTS: readonly Fact[] = [
  { title: 'Started', metric: 'process_start_time_seconds', describe: describePast },
  {
    title: 'Ends of the server',
    metric: 'plant_store_ends_total',
    describe: describeEnds,
    absent: '—',
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
  {
    title: 'Last check of the pages',
    metric: 'plant_store_sqlite_last_check_timestamp_seconds',
    describe: describeCheck,
  },
  {
    title: 'Copy to another database',
    metric: 'plant_store_copy_behind_plants',
    describe: describeCopy,
  },
]

function row(title: string, text: string, metric?: string): HTMLElement {
  const names = metric === undefined ? [] : [element('code', '', metric)]
  return element('div', '', element('dt', '', title), element('dd', '', text, ...names))
}

/** Backups and checks of a database server are its own. */
function absentIn(reply: OverviewReply, { metric, absent }: Fact): string | undefined {
  const isOfFile = metric.includes('backup') || metric.includes('sqlite')
  const isFile = valuesOf(reply, 'plant_store_sqlite_database_bytes').size > 0
  return isOfFile && isFile ? 'never' : absent
}

/** What the server is, and when what happened. */
export function showFacts(list: HTMLElement, reply: OverviewReply): void {
  const rows = FACTS.flatMap((fact) => {
    const { title, metric, describe } = fact
    const isThere = valuesOf(reply, metric).size > 0
    const text = isThere ? describe(reply, metric) : absentIn(reply, fact)
    return text === undefined ? [] : [row(title, text, metric)]
  })
  list.replaceChildren(
    row('Store', reply.store),
    row('Version', `${reply.version} on Node.js ${reply.node}`, 'plant_store_build_info'),
    ...rows,
  )
}
