import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { startChild } from '../src/child.ts'
import { holdClientContest } from '../src/client/contest.ts'
import { CONCURRENCIES, clientContestants } from '../src/client/contestants.ts'
import { holdContest } from '../src/contest.ts'
import { contestants, serverWith } from '../src/contestants.ts'
import { createDatabases, placeSqliteDatabase } from '../src/databases.ts'
import { holdEndurance } from '../src/endurance/contest.ts'
import { holdGrowth } from '../src/growth/contest.ts'
import { keepStore } from '../src/growth/stores.ts'

// Where a sync takes no time, so that only a commit that is made slow is slow.
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const folder = mkdtempSync(join(memory, 'plant-store-benchmark-'))
// PostgreSQL runs as a user of its own where the tests run as root.
chmodSync(folder, 0o755)
const databases = createDatabases(folder)
const load = startChild('./load/load.ts')

afterAll(async () => {
  await load.stop()
  await databases.close()
  rmSync(folder, { recursive: true, force: true })
})

// The contest itself fails when a database does not hold exactly what was answered 200.
test.each([
  ['raw', 0],
  ['no-store', 0],
  ['one-sync', 0],
  ['server-2-loops', 0],
  ['server-pinned', 0],
  ['server+2ms', 2],
  ['fastify+2ms', 2],
  ['fastify-postgres', 0],
  ['postgres×2', 0],
])(
  'measures %s, whose commits take more than %d ms',
  { timeout: 60_000 },
  async (name, leastMs) => {
    const contestant = contestants.find((one) => one.name === name)
    if (contestant === undefined) throw new Error('there is no such contestant')
    const options = { round: 1, seconds: 0.3, folder, databases, load }
    const { measurements, commits } = await holdContest(
      { ...contestant, connections: [1] },
      options,
    )
    expect(measurements).toEqual([expect.objectContaining({ contestant: name, connections: 1 })])
    expect(measurements[0]?.latenciesMs[0]).toBeGreaterThan(leastMs)
    const sizes = commits.map(({ plantsPerCommit }) => plantsPerCommit)
    expect(sizes).toEqual(name === 'fastify-postgres' ? [1, 1, 1, 1, 1] : [])
  },
)

/** How many of the first ten ids a file has, and whether it has some that are not exact as doubles. */
function countRising(url: string): unknown {
  const database = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true })
  const count = database.prepare(
    'SELECT total(id BETWEEN 1 AND 10) AS low, total(id > 1 << 53) > 0 AS high FROM plants',
  )
  const counted = { ...count.get() }
  database.close()
  return counted
}

test('measures server with both kinds of ids, its commits, and the thread that commits', {
  timeout: 60_000,
}, async () => {
  const counted: unknown[] = []
  const make = async () => {
    const database = placeSqliteDatabase(folder)
    const drop = () => {
      counted.push(countRising(database.url))
      return database.drop()
    }
    return { ...database, drop }
  }
  const options = { round: 1, seconds: 0.3, folder, databases: { ...databases, make }, load }
  const both = { ...serverWith(1), connections: [1, 64] }
  const { measurements, commits, commitThreads } = await holdContest(both, options)
  expect(measurements.map(({ connections, ids }) => [connections, ids])).toEqual([
    [1, 'random'],
    [64, 'random'],
    [64, 'rising'],
  ])
  for (const { cpuUs, mainCpuUs } of measurements) {
    expect(mainCpuUs).toBeGreaterThan(0)
    expect(mainCpuUs).toBeLessThan(cpuUs)
  }
  // Plants that arrive together share commits; those of a peer do not, see above.
  // A commit that the system holds up divides a batch now and then.
  const shares = commits.map(({ plantsPerCommit }, index) => {
    return plantsPerCommit / ([1, 4, 16, 32, 128][index] ?? 0)
  })
  for (const share of shares) expect(share).toBeCloseTo(1, 1)
  expect(shares).toHaveLength(5)
  expect(commitThreads.map(({ ids, batch }) => [ids, batch])).toEqual([
    ['random', 256],
    ['rising', 256],
  ])
  // Of the server, of its commits, and of the thread that commits.
  expect(counted).toEqual([
    { low: 10, high: 1 },
    { low: 0, high: 0 },
    { low: 0, high: 1 },
  ])
})

// A sender fails when a plant is not stored.
test('measures the client in each round, in every way at each concurrency', {
  timeout: 60_000,
}, async () => {
  const rounds: number[] = []
  const measurements = await holdClientContest({
    rounds: 2,
    seconds: 0.3,
    onRound: (round) => rounds.push(round),
  })
  expect(rounds).toEqual([0, 1, 2])
  const measured = measurements.map((one) => [one.round, one.concurrency, one.client])
  expect(measured).toEqual(
    [1, 2].flatMap((round) =>
      CONCURRENCIES.flatMap((count) => clientContestants.map(({ name }) => [round, count, name])),
    ),
  )
  for (const { createsPerSecond, cpuUs } of measurements) {
    expect(createsPerSecond).toBeGreaterThan(0)
    // A process has one thread for JavaScript and a few more, so these belong together.
    expect(cpuUs * createsPerSecond).toBeGreaterThan(1_000)
    expect(cpuUs * createsPerSecond).toBeLessThan(4_000_000)
  }
})

// It fails when a reply is wrong, a scrape or a backup fails, or a plant is not stored.
test('measures each minute with backups and scrapes, and all minutes together', {
  timeout: 60_000,
}, async () => {
  const minutes: number[] = []
  const measurements = await holdEndurance({
    minutes: 3,
    minuteSeconds: 1,
    loops: 1,
    folder,
    database: placeSqliteDatabase(folder),
    load,
    onMinute: (minute) => minutes.push(minute),
  })
  expect(minutes).toEqual([1, 2, 3])
  const [whole, ...each] = measurements
  expect(measurements.map(({ minute }) => minute)).toEqual([0, 1, 2, 3])
  const rates = each.map(({ createsPerSecond }) => createsPerSecond)
  expect(whole?.createsPerSecond).toBeCloseTo(rates.reduce((sum, rate) => sum + rate) / 3)
  expect(whole?.maxMs).toBe(Math.max(...each.map(({ maxMs }) => maxMs)))
  expect(whole?.maxScrapeMs).toBeGreaterThan(0)
  for (const { latenciesMs, maxMs } of measurements) {
    expect(latenciesMs.toSorted((one, other) => one - other)).toEqual(latenciesMs)
    expect(latenciesMs[0]).toBeGreaterThan(0)
    expect(maxMs).toBeGreaterThanOrEqual(latenciesMs.at(-1) ?? 0)
  }
  expect(readdirSync(join(folder, 'backups')).filter((name) => name.endsWith('.db'))).toHaveLength(
    1,
  )
})

// It fails when a reply is wrong, or a copy does not hold what was loaded and what was answered 200.
test('measures a server on copies of a store that is loaded once', {
  timeout: 60_000,
}, async () => {
  const stored = 30_000
  const keptFolder = join(folder, 'kept')
  const kept = await keepStore(stored, keptFolder)
  const before = statSync(kept.path)
  const measurements = await holdGrowth({
    rounds: 1,
    seconds: 0.3,
    loops: 1,
    sizes: [0, stored],
    folder,
    keptFolder,
    load,
    onRound: () => {},
  })
  expect(measurements.map((one) => [one.stored, one.ids, one.fileBytes])).toEqual([
    [0, 'random-negative', 0],
    [0, 'rising', 0],
    [stored, 'random-negative', before.size],
    [stored, 'rising', before.size],
  ])
  expect(statSync(kept.path).ctimeMs).toBe(before.ctimeMs)
  const database = new DatabaseSync(kept.path, { readOnly: true })
  const highest = database.prepare('SELECT max(id) AS id FROM plants')
  highest.setReadBigInts(true)
  expect(highest.get()?.id).toBeLessThan(0n)
  database.close()
})
