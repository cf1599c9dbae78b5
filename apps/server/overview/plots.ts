import type { Series } from '../src/telemetry/overview/reply.ts'
import { bytes, counted, type Format, rate, seconds, share } from './format.ts'
import type { Hour, Value } from './hour.ts'

/** A line of a plot, made of one series of a metric, or of several that are added up. */
export interface Line {
  readonly label: string
  readonly values: readonly Value[]
  /** What was added up, each by its own name. */
  readonly parts: readonly Omit<Line, 'parts'>[]
}

interface LineOf {
  readonly label: string
  readonly name: string
  readonly as: Series['as']
  /** The only label of the metric, and which values of it are meant; all by default. */
  readonly where?: (label: string) => boolean
}

/** What one plot shows. Its title is that of the same panel in operations/dashboard.json. */
export interface Plot {
  readonly title: string
  readonly format: Format
  readonly lines: readonly LineOf[]
}

const isStored = (outcome: string) => outcome === 'created' || outcome === 'already_there'

function plain(label: string, name: string, where?: LineOf['where']): LineOf {
  return { label, name, as: 'value', ...(where && { where }) }
}

function percentiles(name: string): LineOf[] {
  return (['p99', 'p90', 'p50'] as const).map((as) => ({ label: as, name, as }))
}

/** The plots, under the headings of operations/dashboard.json. */
export const PLOTS: Readonly<Record<string, readonly Plot[]>> = {
  Creates: [
    {
      title: 'Plants stored',
      format: rate,
      lines: ['created', 'already_there'].map((outcome) => ({
        label: outcome.replace('_', ' '),
        name: 'plant_store_creates_total',
        as: 'rate',
        where: (label) => label === outcome,
      })),
    },
    {
      title: 'Time to the reply 200',
      format: seconds,
      lines: percentiles('plant_store_request_duration_seconds'),
    },
    {
      title: 'Refusals and errors',
      format: rate,
      lines: [
        {
          label: 'replies that are not 200',
          name: 'plant_store_creates_total',
          as: 'rate',
          where: (label) => !isStored(label),
        },
      ],
    },
    {
      title: 'Refusals by limit',
      format: rate,
      lines: [{ label: 'refused', name: 'plant_store_limiter_actions_total', as: 'rate' }],
    },
    {
      title: 'Connections',
      format: counted('open'),
      lines: [plain('open', 'plant_store_connections')],
    },
  ],
  Commits: [
    {
      title: 'Time of a commit',
      format: seconds,
      lines: percentiles('plant_store_commit_duration_seconds'),
    },
    {
      title: 'Plants in a commit',
      format: counted('plants', 'plant'),
      lines: [{ label: 'mean', name: 'plant_store_commit_plants', as: 'mean' }],
    },
    {
      title: 'Queue',
      format: counted('plants wait', 'plant waits'),
      lines: [plain('waiting', 'plant_store_waiting_plants')],
    },
  ],
  Database: [
    {
      title: 'Database and free disk',
      format: bytes,
      lines: [
        plain('free', 'plant_store_sqlite_disk_free_bytes'),
        plain('database', 'plant_store_sqlite_database_bytes'),
      ],
    },
    {
      title: 'Write-ahead log',
      format: bytes,
      lines: [plain('log', 'plant_store_sqlite_log_bytes')],
    },
    {
      title: 'PostgreSQL connections',
      format: counted('connections', 'connection'),
      lines: [
        plain('open', 'plant_store_postgres_pool_connections'),
        plain('idle', 'plant_store_postgres_pool_idle_connections'),
        plain('waiting for one', 'plant_store_postgres_pool_waiting'),
      ],
    },
  ],
  Process: [
    {
      title: 'Event loop delay',
      format: seconds,
      lines: [
        plain('longest', 'nodejs_eventloop_lag_max_seconds'),
        plain('p99', 'nodejs_eventloop_lag_p99_seconds'),
      ],
    },
    {
      title: 'Memory',
      format: bytes,
      lines: [
        plain('resident', 'process_resident_memory_bytes'),
        plain('heap', 'nodejs_heap_size_used_bytes'),
      ],
    },
    {
      title: 'CPU',
      format: share,
      lines: [{ label: 'of one core', name: 'process_cpu_seconds_total', as: 'rate' }],
    },
  ],
}

/** Adds up what is there; null where nothing is. */
function total(several: readonly (readonly Value[])[], length: number): Value[] {
  return Array.from({ length }, (_, index) => {
    const there = several.map((values) => values[index] ?? null).filter((value) => value !== null)
    return there.length === 0 ? null : there.reduce((sum, value) => sum + value, 0)
  })
}

/** The lines of a plot as they are now; none where nobody measures them. */
export function linesOf(hour: Hour, { lines }: Pick<Plot, 'lines'>): Line[] {
  return lines.flatMap(({ label, name, as, where = () => true }) => {
    const parts = hour
      .find(name, as)
      .map(({ series, values }) => ({ label: Object.values(series.labels).join(), values }))
      .filter((part) => where(part.label))
    if (parts.length === 0) return []
    const values = parts.map((part) => part.values)
    return [{ label, values: total(values, hour.times.length), parts }]
  })
}
