import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { startRestartableServer } from '../../../test/restartable-server.ts'
import { type CreatePlantsOptions, createPlantStoreClient, createPlants } from '../src/index.ts'

const plants = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `Fern ${id}` }))
const expected = new Map(plants.map(({ id, name }) => [BigInt(id), { name, tag: null }]))

// They wait most of the time.
describe.concurrent('a bulk stores every row once, and fails none, while its server', () => {
  test.for<[string, 'SIGKILL' | 'SIGTERM' | 'SIGSTOP', ms: number, CreatePlantsOptions]>([
    ['is killed, and back after 10 s', 'SIGKILL', 10_000, {}],
    ['is killed under 64', 'SIGKILL', 1_000, { concurrency: 64 }],
    ['is killed under one at once', 'SIGKILL', 1_000, { concurrency: 1 }],
    ['restarts, where a call would not wait', 'SIGTERM', 3_000, { totalTimeoutMs: 1_000 }],
    ['stands still for 3 s', 'SIGSTOP', 3_000, { timeoutMs: 500, totalTimeoutMs: 700 }],
  ])('%s', async ([_what, signal, ms, options], { onTestFinished }) => {
    const server = await startRestartableServer([], onTestFinished)
    const { url: baseUrl, token, start, stop } = server
    const fail = async () => {
      await (signal === 'SIGSTOP' ? server.signal(signal) : stop(signal))
      await sleep(ms)
      await (signal === 'SIGSTOP' ? server.signal('SIGCONT') : start())
    }
    const stored = new Set<number>()
    const failing: Promise<void>[] = []
    const client = createPlantStoreClient({ baseUrl, token })
    for await (const { index, ok } of createPlants(client, plants, options)) {
      // It goes on beside the bulk.
      if (ok && [500, 1_250].includes(stored.add(index).size)) failing.push(fail())
    }
    await Promise.all(failing)
    expect([stored.size, failing.length]).toEqual([plants.length, 2])
    expect(server.readPlants()).toEqual(expected)
  })
})
