import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startChild } from '../src/child.ts'
import { holdClientContest } from '../src/client/contest.ts'
import { CONCURRENCIES, clientContestants } from '../src/client/contestants.ts'
import { holdContest } from '../src/contest.ts'
import { contestants } from '../src/contestants.ts'
import { createDatabases } from '../src/databases.ts'

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
  ['server', 0],
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
    if (!['server', 'fastify-postgres'].includes(name)) return
    const sizes = commits.map(({ plantsPerCommit }) => plantsPerCommit)
    expect(sizes[0]).toBe(1)
    // The store shares a commit between 256 plants that arrive together; a peer does not.
    expect(sizes.at(-1)).toBe(name === 'server' ? 128 : 1)
  },
)

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
