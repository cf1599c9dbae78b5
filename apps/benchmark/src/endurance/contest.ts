import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from '../child.ts'
import { applyLoad, measureServers, warmUp } from '../contest.ts'
import { serverWith } from '../contestants.ts'
import type { Database } from '../databases.ts'
import type { EnduranceMeasurement, LoadPart } from '../measurement.ts'
import type { Servers } from '../servers.ts'
import { startDisturbances } from './disturbances.ts'

const CONNECTIONS = 256

export interface EnduranceOptions {
  readonly minutes: number
  /** Of a minute; shorter ones give no figures. */
  readonly minuteSeconds: number
  readonly loops: number
  /** On the disk that is measured. */
  readonly folder: string
  readonly database: Database
  readonly load: Child
  /** Called after each minute. */
  readonly onMinute: (minute: number) => void
}

interface Sample {
  readonly rssBytes: number
  readonly maxScrapeMs: number
}

/** What is seen at the end of each minute. */
async function sampleMinutes(
  servers: Servers,
  takeMaxScrapeMs: () => number,
  { minutes, minuteSeconds, onMinute }: EnduranceOptions,
): Promise<Sample[]> {
  const samples: Sample[] = []
  const startedAt = performance.now()
  for (let minute = 1; minute <= minutes; minute++) {
    await sleep(startedAt + minute * minuteSeconds * 1_000 - performance.now())
    const { rssBytes } = await servers.usage()
    samples.push({ rssBytes, maxScrapeMs: takeMaxScrapeMs() })
    onMinute(minute)
  }
  return samples
}

/** One measurement for each minute, and one for all of them. */
function putTogether(
  whole: LoadPart & { readonly parts: readonly LoadPart[] },
  samples: readonly Sample[],
  loops: number,
): EnduranceMeasurement[] {
  const last = samples.at(-1)?.rssBytes ?? Number.NaN
  const maxScrapeMs = Math.max(...samples.map((one) => one.maxScrapeMs))
  const { createsPerSecond, latenciesMs, maxMs } = whole
  const all = { createsPerSecond, latenciesMs, maxMs, rssBytes: last, maxScrapeMs }
  const minutes = samples.map((sample, index) => {
    const part = whole.parts[index]
    if (part === undefined) throw new Error(`the load did not report minute ${index + 1}`)
    return { minute: index + 1, loops, ...part, ...sample }
  })
  return [{ minute: 0, loops, ...all }, ...minutes]
}

async function measure(servers: Servers, options: EnduranceOptions) {
  const { minutes, minuteSeconds, loops, folder, database, load } = options
  const { targets, metricsUrl } = servers
  if (metricsUrl === undefined) throw new Error('the server did not say where its metrics are')
  const warm = await applyLoad(load, warmUp(targets, 1, minuteSeconds))
  const disturbances = startDisturbances({ folder, databaseUrl: database.url, metricsUrl })
  const seconds = minutes * minuteSeconds
  const [result, samples] = await Promise.all([
    applyLoad(load, { targets, connections: CONNECTIONS, seconds, parts: minutes }),
    sampleMinutes(servers, disturbances.takeMaxScrapeMs, options),
  ])
  const backups = await disturbances.stop()
  if (backups === 0) throw new Error('no backup was made')
  const acknowledged = warm.acknowledged + result.acknowledged
  return { acknowledged, measurements: putTogether(result, samples, loops) }
}

/**
 * Measures our server for minutes, with a scrape each second and a backup each minute.
 * @throws when a reply was wrong, a scrape or a backup failed, or the database does not hold what
 * was answered 200
 */
export async function holdEndurance(options: EnduranceOptions): Promise<EnduranceMeasurement[]> {
  const contestant = serverWith(options.loops)
  const measured = await measureServers(contestant, options.database, (servers) =>
    measure(servers, options),
  )
  return measured.measurements
}
