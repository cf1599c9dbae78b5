import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { needs } from '../../../packages/client/hostile/needs.ts'
import { startChild, TASKSET } from '../src/child.ts'
import { makeStoredPlants } from '../src/growth/stored-plants.ts'
import { createIds } from '../src/load/ids.ts'
import { createLatencies } from '../src/load/latencies.ts'
import type { EnduranceMeasurement, GrowthMeasurement } from '../src/measurement.ts'
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

test('what is written is what is read', () => {
  expect(parseResults(formatResults(results))).toEqual(results)
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
