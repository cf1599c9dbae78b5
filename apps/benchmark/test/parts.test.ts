import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { needs } from '../../../packages/client/runtimes/needs.ts'
import { startChild, TASKSET } from '../src/child.ts'
import { makeStoredPlants } from '../src/growth/stored-plants.ts'
import { createIds } from '../src/load/ids.ts'
import { createLatencies } from '../src/load/latencies.ts'
import type {
  CommitThreadMeasurement,
  ContestIds,
  EnduranceMeasurement,
  GrowthMeasurement,
  Measurement,
} from '../src/measurement.ts'
import { describeParts, describeResults } from '../src/report/page.ts'
import { drawPlots } from '../src/report/plots.ts'
import { formatResults, parseResults, type Results } from '../src/report/results.ts'

const docs = join(import.meta.dirname, '../../../docs')
const page = parseResults(readFileSync(join(docs, 'performance/results.jsonl'), 'utf8'))

const MIB = 2 ** 20

function minute(number: number, maxMs: number, rssMib: number): EnduranceMeasurement {
  return {
    minute: number,
    loops: 2,
    createsPerSecond: 20_000,
    latenciesMs: [10, 11, 12, 13, 19.5, 50],
    maxMs,
    rssBytes: rssMib * MIB,
    maxScrapeMs: 7,
  }
}

function growth(stored: number, ids: GrowthMeasurement['ids'], rate: number): GrowthMeasurement {
  return {
    round: 1,
    stored,
    ids,
    loops: 1,
    createsPerSecond: rate,
    latenciesMs: [1, 2, 3, 4, 5, 6],
    cpuUs: 40,
    maxRssBytes: 150 * MIB,
    writtenBytes: 8_192,
    fileBytes: stored * 33,
  }
}

function create(
  contestant: string,
  ids: ContestIds,
  createsPerSecond: number,
  [cpuUs, mainCpuUs]: readonly [number, number],
): Measurement {
  const about = { round: 1, contestant, connections: 64, ids, syncMs: 0.1, loadCpuShare: 0.5 }
  const latenciesMs = [1, 2, 3, 4, 5, 6]
  return { ...about, createsPerSecond, latenciesMs, cpuUs, mainCpuUs, maxRssBytes: 150 * MIB }
}

function thread(ids: ContestIds, plantsPerSecond: number, cpuUs: number): CommitThreadMeasurement {
  return { round: 1, batch: 256, ids, plantsPerSecond, cpuUs }
}

const servers: Results = {
  ...page,
  measurements: [
    create('raw', 'random', 55_000, [20, 18]),
    create('raw', 'rising', 57_000, [19, 17]),
    create('fastify', 'random', 4_000, [200, 190]),
    create('fastify', 'rising', 5_000, [152, 150]),
    create('server', 'random', 20_000, [50, 30]),
    create('server', 'rising', 26_000, [38, 28]),
    create('no-operations', 'random', 21_000, [46, 29]),
    create('no-operations', 'rising', 27_000, [31.35, 26]),
  ],
  commitThreads: [thread('random', 100_000, 9), thread('rising', 250_000, 2)],
}

const results: Results = {
  ...page,
  parts: {
    ...page.parts,
    endurance: {
      run: page.run,
      measurements: [
        minute(0, 301, 370),
        minute(1, 200, 200),
        minute(2, 301, 370),
        minute(3, 150, 300),
        minute(4, 150, 370),
      ],
    },
    growth: {
      run: page.run,
      measurements: [
        growth(0, 'random-negative', 20_000),
        growth(0, 'rising', 25_000),
        growth(1e7, 'random-negative', 15_000),
        growth(1e7, 'rising', 25_000),
        growth(1e8, 'random-negative', 12_000),
        growth(1e8, 'rising', 14_000),
      ],
    },
  },
}

/** The cells of the first row that begins so. */
function cells(text: string, first: string): string[] {
  const row = text.split('\n').find((line) => line.startsWith(`| ${first}`))
  return (row ?? '').split('|').map((cell) => cell.trim())
}

test.each([
  ['parts', results],
  ['servers', servers],
])('what is written of %s is what is read', (_, written) => {
  expect(parseResults(formatResults(written))).toEqual(written)
})

test('minutes are compared with their targets, memory for each loop', () => {
  const text = describeParts(results)
  expect(cells(text, 'p99 in ms')).toEqual(['', 'p99 in ms', '19.5', '≤ 20', 'yes', ''])
  expect(cells(text, 'longest in ms').slice(2, 5)).toEqual(['301', '≤ 300', 'no'])
  expect(cells(text, 'most memory in MiB').slice(2, 5)).toEqual(['185', '≤ 190', 'yes'])
  expect(cells(text, 'most memory: second').slice(2, 5)).toEqual(['1', '≤ 1.1', 'yes'])
  expect(cells(text, '3 ').slice(2, 9)).toEqual(['20,000', '10', '19.5', '50', '150', '300', '7'])
})

test('each size is compared with the empty store, ids of one kind with the same', () => {
  const text = describeParts(results)
  const of = (what: string) => cells(text, `rate: ${what}`).slice(2, 5)
  expect(of('10^7 stored ÷ none, random ids')).toEqual(['0.75 (0.75–0.75)', '≥ 0.8', 'no'])
  expect(of('10^7 stored ÷ none, rising ids')).toEqual(['1 (1–1)', '≥ 0.8', 'yes'])
  expect(of('10^8 stored ÷ none, random ids')).toEqual(['0.6 (0.6–0.6)', '≥ 0.6', 'yes'])
  expect(of('10^8 stored ÷ none, rising ids')).toEqual(['0.56 (0.56–0.56)', '≥ 0.6', 'no'])
})

test('random and rising ids are compared each with the same ids of the other server', () => {
  const text = describeResults(servers)
  const of = (what: string) => cells(text, what).slice(2, 5)
  const toRaw = (title: string, ids = '') =>
    of(`processor time: ${title} ÷ node:http (in memory), 64 connections${ids} `)
  expect(toRaw('Plant Store (SQLite)')).toEqual(['2.5 (2.5–2.5)', '≤ 2', 'no'])
  expect(toRaw('Plant Store (SQLite)', ', rising ids')).toEqual(['2 (2–2)', '≤ 2', 'yes'])
  expect(toRaw('Plant Store (SQLite, no operations)')).toEqual(['2.3 (2.3–2.3)', '≤ 1.7', 'no'])
  expect(toRaw('Plant Store (SQLite, no operations)', ', rising ids')).toEqual([
    '1.65 (1.65–1.65)',
    '≤ 1.7',
    'yes',
  ])
  expect(toRaw('Fastify (better-sqlite3)')).toEqual(['10 (10–10)', '', ''])
  expect(toRaw('Fastify (better-sqlite3)', ', rising ids')).toEqual(['8 (8–8)', '', ''])
  const toFastify = (ids: string) =>
    of(`rate: Plant Store (SQLite) ÷ Fastify (better-sqlite3), 64 connections${ids} `)
  expect(toFastify('')).toEqual(['5 (5–5)', '≥ 5', 'yes'])
  expect(toFastify(', rising ids')).toEqual(['5.2 (5.2–5.2)', '≥ 5', 'yes'])
  const rates = (ids: string) =>
    of(`plants/s: the thread that commits to SQLite, by itself, batches of 256, ${ids} ids`)
  expect(rates('random')).toEqual(['100,000 (100,000–100,000)', '≥ 250,000', 'no'])
  expect(rates('rising')).toEqual(['250,000 (250,000–250,000)', '≥ 250,000', 'yes'])
})

test('processor time is shown for each kind of ids, with that of the main thread', () => {
  const text = describeResults(servers)
  const rows = text.split('\n').filter((line) => line.startsWith('| Plant Store (SQLite)  '))
  const costs = rows.map((row) => row.split('|').map((cell) => cell.trim())).slice(-2)
  expect(costs.map((row) => row.slice(2, 8))).toEqual([
    ['64', 'random', '20,000 (20,000–20,000)', '1', '50', '30'],
    ['64', 'rising', '26,000 (26,000–26,000)', '1', '38', '28'],
  ])
})

test('the model bounds a machine by its cores and by the thread that commits', () => {
  const text = describeResults(servers)
  const of = (what: string) => cells(text, what).slice(2, 4)
  expect(of('t: ')).toEqual(['30', '28'])
  expect(of('u: ')).toEqual(['50', '38'])
  expect(of('s: ')).toEqual(['10', '4'])
  expect(of('of s: ')).toEqual(['9', '2'])
  expect(of('1 ÷ s')).toEqual(['100,000', '250,000'])
  expect(of('t ÷ s')).toEqual(['3', '7'])
  expect(of('min(cores ÷ u, 1 ÷ s): 4 cores')).toEqual(['80,000', '105,000'])
  expect(of('min(cores ÷ u, 1 ÷ s): 8 cores')).toEqual(['100,000', '211,000'])
  expect(of('min(cores ÷ u, 1 ÷ s): 16 cores')).toEqual(['100,000', '250,000'])
  const withoutRising = { ...servers, commitThreads: [thread('random', 100_000, 9)] }
  expect(describeResults(withoutRising)).not.toContain('### Larger machines')
})

test('a part that was not measured has neither a section nor a plot', () => {
  expect(Object.keys(drawPlots(results))).toEqual(
    expect.arrayContaining(['endurance.svg', 'growth.svg']),
  )
  const without = { ...results, parts: {} }
  expect(Object.keys(drawPlots(without))).toEqual(['rate.svg', 'latency.svg', 'commit.svg'])
  expect(describeResults(without)).not.toContain('### Growth')
})

test('the plants that are loaded have ids of their own, all negative, spread evenly', () => {
  const count = 20_000
  const [head, ...lines] = [...makeStoredPlants(count)].join('').trimEnd().split('\n')
  expect(head).toBe('id,name,tag')
  const ids = lines.map((line) => BigInt(line.split(',')[0] ?? ''))
  expect(new Set(ids).size).toBe(count)
  const part = 2n ** 63n / BigInt(count)
  const sorted = ids.toSorted((one, other) => (one < other ? -1 : 1))
  const parts = sorted.map((id) => Number((id + 2n ** 63n) / part))
  expect(parts).toEqual(Array.from({ length: count }, (_, index) => index))
})

test('new ids are negative where they shall fall between those that are loaded, or rise', () => {
  const next = createIds('random-negative', 1)
  const ids = Array.from({ length: 3_000 }, () => BigInt(next()))
  expect(ids.every((id) => id < 0n && id >= -(2n ** 63n))).toBe(true)
  expect(new Set(ids).size).toBe(ids.length)
  const rising = createIds('rising', 41)
  expect([rising(), rising()]).toEqual(['41', '42'])
})

const isThere = process.platform === 'linux' && existsSync(TASKSET)

test('a program that is pinned has one core', needs('taskset', isThere), async () => {
  const child = startChild('./load/load.ts', [], { isPinned: true })
  await vi.waitFor(() => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    expect(/Cpus_allowed_list:\t(.*)/.exec(status)?.[1]).toMatch(/^\d+$/)
  })
  await child.ask({ targets: [], connections: 0, seconds: 0 })
  await child.stop()
})

test('latencies of parts are reported by themselves, and of all together', async () => {
  const latencies = createLatencies(0.4, 2)
  latencies.start()
  for (let ms = 1; ms <= 100; ms++) latencies.add(ms)
  await new Promise((resolve) => setTimeout(resolve, 300))
  latencies.add(500)
  const { parts, maxMs, createsPerSecond, latenciesMs } = latencies.end()
  expect(parts.map((part) => part.createsPerSecond)).toEqual([500, 5])
  expect(createsPerSecond).toBe(252.5)
  expect(parts[0]?.latenciesMs[0]).toBeCloseTo(50, 0)
  expect(parts[0]?.maxMs).toBeCloseTo(100, 0)
  expect(maxMs).toBeCloseTo(500, 0)
  expect(latenciesMs.at(-1)).toBeCloseTo(500, 0)
})
