/** The series of the plant store in a scrape, by name and labels as Prometheus's text format has them. */
export type Scrape = ReadonlyMap<string, number>

export function parseScrape(text: string): Scrape {
  const lines = text.matchAll(/^(plant_store_\w+(?:\{.*\})?) (\S+)$/gm)
  return new Map(Array.from(lines, ([, series = '', value]) => [series, Number(value)]))
}

/** What happened between two scrapes; rates are by the second, times in ms. */
export interface Moment {
  /** Unix time of the second scrape, in seconds. */
  readonly at: number
  readonly stored: number
  readonly refused: number
  readonly failed: number
  /** Of the responses 200; null where there was none. */
  readonly p50: number | null
  readonly p99: number | null
  readonly waiting: number
  readonly connections: number
}

/** A counter that has fallen began anew. */
function grownBy(before: Scrape, now: Scrape, series: string): number {
  const value = now.get(series) ?? 0
  const earlier = before.get(series) ?? 0
  return value < earlier ? value : value - earlier
}

function sumOf(before: Scrape, now: Scrape, pattern: RegExp): number {
  const series = [...now.keys()].filter((name) => pattern.test(name))
  return series.reduce((sum, name) => sum + grownBy(before, now, name), 0)
}

const BUCKET = /^plant_store_request_duration_seconds_bucket\{le="([^"]+)",status="200"\}$/

/** A percentile of the times of responses 200, in ms, as histogram_quantile of Prometheus has it. */
export function percentile(before: Scrape, now: Scrape, fraction: number): number | null {
  const buckets = [...now.keys()]
    .flatMap((series) => {
      const [, le] = BUCKET.exec(series) ?? []
      if (le === undefined) return []
      const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le)
      return [{ bound, count: grownBy(before, now, series) }]
    })
    .sort((one, other) => one.bound - other.bound)
  const wanted = fraction * (buckets.at(-1)?.count ?? 0)
  const index = buckets.findIndex(({ count }) => count >= wanted)
  const found = buckets[index]
  if (wanted === 0 || found === undefined) return null
  const below = buckets[index - 1] ?? { bound: 0, count: 0 }
  if (found.bound === Number.POSITIVE_INFINITY) return below.bound * 1_000
  const part = (wanted - below.count) / (found.count - below.count)
  return (below.bound + (found.bound - below.bound) * part) * 1_000
}

const OUTCOME = 'plant_store_creates_total\\{outcome='
const STORED = new RegExp(`${OUTCOME}"(?:created|already_there)"`)
const FAILED = new RegExp(`${OUTCOME}"(?:internal|outcome_unknown|unavailable)"`)
const ALL = new RegExp(OUTCOME)

/** `seconds`: how long before `at` the first scrape was. */
export function compare(before: Scrape, now: Scrape, at: number, seconds: number): Moment {
  const rate = (pattern: RegExp) => sumOf(before, now, pattern) / seconds
  const [stored, failed] = [rate(STORED), rate(FAILED)]
  return {
    at,
    stored,
    failed,
    refused: rate(ALL) - stored - failed,
    p50: percentile(before, now, 0.5),
    p99: percentile(before, now, 0.99),
    waiting: now.get('plant_store_waiting_plants') ?? 0,
    connections: now.get('plant_store_connections') ?? 0,
  }
}
