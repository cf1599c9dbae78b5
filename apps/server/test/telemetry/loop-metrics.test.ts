import { expect, test } from 'vitest'
import type { MetricsSnapshot, Reading } from '../../src/telemetry/metrics/loop-metrics.ts'
import { createMetrics, type Metrics } from '../../src/telemetry/metrics/metrics.ts'
import { readSamples } from './scraped-server.ts'

/** The metrics of a process whose loops are these; undefined for one that does not reply. */
function startProcess(loops: (Metrics | undefined)[]) {
  const main = createMetrics()
  main.addLoops((names) =>
    Promise.all(
      // As it comes from a thread.
      loops.map(async (loop) => structuredClone(await loop?.snapshot(names))),
    ),
  )
  return { ...main, scrape: async () => readSamples(await main.print()) }
}

function create(loop: Metrics | undefined, count: number): void {
  for (let number = 0; number < count; number++) loop?.requests.answered('created', 200, 1)
}

const CREATED = 'plant_store_creates_total{outcome="created"}'
const WITHIN = 'plant_store_request_duration_seconds_bucket{le="0.001",status="200"}'

const measures = (waitingPlants: number) => ({
  measure: async () => ({
    waitingPlants,
    queueLimit: 100,
    pool: { limit: 4, open: 3, idle: 2, waiting: 1 },
    sqlite: { databaseBytes: 7, logBytes: 8, diskFreeBytes: 9, lastBackupAt: undefined },
  }),
})

test('what loops count is added up, with histograms', async () => {
  const loops = [createMetrics(), createMetrics()]
  const { scrape, requests } = startProcess(loops)
  requests.answered('created', 200, 1)
  create(loops[0], 2)
  create(loops[1], 3)
  const samples = await scrape()
  expect(samples.get(CREATED)).toBe(6)
  expect(samples.get(WITHIN)).toBe(6)
  expect(samples.get('plant_store_request_duration_seconds_sum{status="200"}')).toBeCloseTo(0.006)
})

test('what is one for the process is not added up, and each loop has its own of the rest', async () => {
  const loops = [createMetrics(), createMetrics()]
  const main = startProcess(loops)
  main.measureReadiness(async () => {})
  for (const [index, one] of [main, ...loops].entries()) one.measureStore(measures(index))
  for (const one of loops) one.measureConnections(() => 5)
  for (const one of loops) one.tokenCache.missed(2)
  const samples = await main.scrape()
  const shown = (name: string) => samples.get(`plant_store_${name}`)
  expect(shown('ready')).toBe(1)
  expect(shown('waiting_plants')).toBe(0 + 1 + 2)
  expect(shown('waiting_plants_limit')).toBe(100)
  expect(shown('postgres_pool_connections')).toBe(9)
  expect(shown('postgres_pool_connections_limit')).toBe(12)
  expect(shown('sqlite_database_bytes')).toBe(7)
  expect(shown('connections')).toBe(10)
  expect(shown('token_cache_tokens')).toBe(2)
  const memory = samples.get('process_resident_memory_bytes') ?? 0
  expect(memory / process.memoryUsage.rss()).toBeLessThan(1.5)
  expect(memory).toBeGreaterThan(0)
  const builds = [...samples].filter(([name]) => name.startsWith('plant_store_build_info'))
  expect(builds.map(([, value]) => value)).toEqual([1])
})

test('no series is shown twice, and every one that a single loop has is there', async () => {
  const alone = readSamples(await createMetrics().print())
  const text = await startProcess([createMetrics(), createMetrics()]).print()
  const names = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const series = names.map((line) => line.slice(0, line.lastIndexOf(' ')))
  expect(series.length).toBe(new Set(series).size)
  const missing = [...alone.keys()].filter((name) => !series.includes(name))
  // What differs between two moments of one process.
  expect(missing.filter((name) => !/_active_|_gc_/.test(name))).toEqual([])
})

test('counters of a loop that is late or dead stay, and its gauges do not', async () => {
  const loops: (Metrics | undefined)[] = [createMetrics(), createMetrics()]
  const main = startProcess(loops)
  for (const loop of loops) loop?.measureConnections(() => 5)
  create(loops[0], 10)
  create(loops[1], 100)
  expect((await main.scrape()).get(CREATED)).toBe(110)
  const late = loops[1]
  loops[1] = undefined
  create(loops[0], 1)
  const without = await main.scrape()
  expect(without.get(CREATED)).toBe(111)
  expect(without.get('plant_store_connections')).toBe(5)
  create(late, 5)
  loops[1] = late
  expect((await main.scrape()).get(CREATED)).toBe(116)
})

test('counters never fall, however many loops die and are replaced', async () => {
  const loops: (Metrics | undefined)[] = [createMetrics(), createMetrics()]
  const main = startProcess(loops)
  let created = 0
  for (let life = 0; life < 6; life++) {
    for (const loop of loops) create(loop, 3)
    created += 6
    const samples = await main.scrape()
    expect(samples.get(CREATED)).toBe(created)
    expect(samples.get(WITHIN)).toBe(created)
    expect(await main.read(['plant_store_creates_total'])).toContainEqual({
      name: 'plant_store_creates_total',
      labels: { outcome: 'created' },
      value: created,
    })
    loops[life % 2] = undefined
    expect((await main.scrape()).get(CREATED)).toBe(created)
    loops[life % 2] = createMetrics()
  }
})

test('the lag shown is that of the loop which is latest, on the page and at a scrape', async () => {
  const main = createMetrics()
  const name = 'nodejs_eventloop_lag_p99_seconds'
  const late = (seconds: number): MetricsSnapshot => {
    const values = [{ labels: {}, value: seconds }]
    const reading = { name, help: 'Late.', type: 'gauge', aggregator: 'max', values }
    return { life: String(seconds), readings: [reading as unknown as Reading] }
  }
  main.addLoops(async () => [late(2), late(3), late(1)])
  expect(readSamples(await main.print()).get(name)).toBe(3)
  expect(await main.read([name])).toEqual([{ name, labels: {}, value: 3 }])
})
