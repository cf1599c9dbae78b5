import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type RestartableServer, startRestartableServer } from '../../../test/restartable-server.ts'
import { type CreatePlantsOptions, createPlantStoreClient, createPlants } from '../src/index.ts'

const plants = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `Fern ${id}` }))

/** Runs a bulk, and calls `fail` after some of its results; it goes on beside the bulk. */
async function importPlants(
  { token, url: baseUrl }: RestartableServer,
  options: CreatePlantsOptions,
  fail: () => Promise<void>,
) {
  const client = createPlantStoreClient({ baseUrl, token })
  const indexes: number[] = []
  const failing: Promise<void>[] = []
  for await (const { index, ok } of createPlants(client, plants, options)) {
    if (ok && [500, 1_250].includes(indexes.push(index))) failing.push(fail())
  }
  await Promise.all(failing)
  return indexes.toSorted((one, other) => one - other)
}

const stopsFor =
  (ms: number, signal: 'SIGKILL' | 'SIGTERM') =>
  async ({ stop, start }: RestartableServer) => {
    await stop(signal)
    await sleep(ms)
    await start()
  }

async function standsStill({ signal }: RestartableServer): Promise<void> {
  signal('SIGSTOP')
  await sleep(3_000)
  signal('SIGCONT')
}

type Failing = (server: RestartableServer) => Promise<void>
const ALONE_TOO_SHORT = { maxRetries: 0, totalTimeoutMs: 1_000 }

// They wait most of the time.
describe.concurrent('a bulk stores every row once, and fails none, while its server', () => {
  test.for<[what: string, fail: Failing, CreatePlantsOptions]>([
    ['is killed, and back after 10 s', stopsFor(10_000, 'SIGKILL'), {}],
    ['is killed under 64', stopsFor(1_000, 'SIGKILL'), { concurrency: 64, maxRetries: 20 }],
    ['is killed under one at once', stopsFor(1_000, 'SIGKILL'), { concurrency: 1 }],
    ['restarts, where a call would not wait', stopsFor(3_000, 'SIGTERM'), ALONE_TOO_SHORT],
    ['stands still for 3 s', standsStill, { timeoutMs: 500, totalTimeoutMs: 700 }],
  ])('%s', async ([_what, fail, options], { onTestFinished }) => {
    const server = await startRestartableServer([], onTestFinished)
    const indexes = await importPlants(server, options, () => fail(server))
    expect(indexes).toEqual(plants.map(({ id }) => id))
    const stored = new Map(plants.map(({ id, name }) => [BigInt(id), { name, tag: null }]))
    expect(server.readPlants()).toEqual(stored)
  })
})

const countTimers = () =>
  process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length

test('a bulk whose server never comes back ends after maxOutageMs, and leaves no timer', async () => {
  const server = await startRestartableServer()
  const timers = countTimers()
  let diedAt = Number.NaN
  const failure: unknown = await importPlants(server, { maxOutageMs: 2_000 }, async () => {
    diedAt = performance.now()
    await server.stop('SIGKILL')
  }).catch((error: unknown) => error)
  const lastedMs = performance.now() - diedAt
  expect(countTimers()).toBeLessThanOrEqual(timers)
  expect(failure).toMatchObject({ code: 'connection_failed', reason: 'ECONNREFUSED' })
  // On a busy machine its last attempt takes its time.
  expect(lastedMs).toBeGreaterThan(2_000)
  expect(lastedMs).toBeLessThan(10_000)
  // All that was given as stored is, and not less.
  expect(server.readPlants().size).toBeGreaterThanOrEqual(500)
})
