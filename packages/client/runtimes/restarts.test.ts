import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  type CreatePlantsOptions,
  type CreatePlantsProgress,
  createPlantStoreClient,
  createPlants,
} from '../src/index.ts'
import { watchTimers } from './leftovers.ts'
import { type RestartableServer, startRestartableServer } from './restartable-server.ts'

const ROWS = 2_000
/** The server fails after so many results. */
const FAILS_AFTER = [500, 1_250]

function* plants(): Generator<{ id: number; name: string }> {
  for (let id = 0; id < ROWS; id++) yield { id, name: `Fern ${id}` }
}

/** What the disk and the loop have in the end, where no row was lost, stored twice, or failed. */
const everyRow = [...plants()]

interface Imported {
  readonly failures: readonly unknown[]
  readonly indexes: readonly number[]
  readonly states: ReadonlySet<string>
  readonly last: CreatePlantsProgress | undefined
}

/** Runs a bulk, and calls `fail` after some of its results; it goes on beside the bulk. */
async function importPlants(
  { token }: RestartableServer,
  baseUrl: string,
  options: CreatePlantsOptions,
  fail: () => Promise<void>,
): Promise<Imported> {
  const client = createPlantStoreClient({ baseUrl, token })
  const failures: unknown[] = []
  const indexes: number[] = []
  const states = new Set<string>()
  const failing: Promise<void>[] = []
  let last: CreatePlantsProgress | undefined
  const onProgress = (progress: CreatePlantsProgress) => {
    states.add(progress.state.type)
    last = progress
  }
  for await (const result of createPlants(client, plants(), { ...options, onProgress })) {
    if (!result.ok) failures.push(result.error)
    indexes.push(result.index)
    if (FAILS_AFTER.includes(indexes.length)) failing.push(fail())
  }
  await Promise.all(failing)
  return { failures, indexes: indexes.toSorted((a, b) => a - b), states, last }
}

function expectAllStored({ failures, indexes, states, last }: Imported): void {
  expect(failures).toEqual([])
  expect(indexes).toEqual(everyRow.map(({ id }) => id))
  expect(states).toContain('running')
  expect(states.size).toBeGreaterThan(1)
  expect(last).toMatchObject({ sent: ROWS, stored: ROWS, alreadyThere: 0, settledRows: ROWS })
}

// They wait most of the time.
describe.concurrent('a bulk stores every row once, and fails none, while its server', () => {
  test.each<[what: string, downMs: number, signal: 'SIGKILL' | 'SIGTERM', CreatePlantsOptions]>([
    ['is killed, and back after 3 s', 3_000, 'SIGKILL', {}],
    ['is killed, and back after 10 s', 10_000, 'SIGKILL', {}],
    ['is killed under 64 at once', 1_000, 'SIGKILL', { concurrency: 64, maxRetries: 20 }],
    ['is killed under one at once', 1_000, 'SIGKILL', { concurrency: 1 }],
    ['restarts in order', 1_000, 'SIGTERM', {}],
    [
      'restarts, where a call alone would not wait',
      3_000,
      'SIGTERM',
      { maxRetries: 0, totalTimeoutMs: 1_000 },
    ],
  ])('%s', async (_what, downMs, signal, options) => {
    const server = await startRestartableServer()
    const imported = await importPlants(server, server.url, options, async () => {
      await server.end(signal)
      await sleep(downMs)
      await server.start()
    })
    expectAllStored(imported)
    expect(imported.states).toContain('outage')
    expect(await server.endAndRead()).toEqual(everyRow)
  })

  test('stands still for 3 s, which is longer than a request may take', async () => {
    const server = await startRestartableServer()
    const options = { timeoutMs: 500, totalTimeoutMs: 700 }
    const imported = await importPlants(server, server.url, options, async () => {
      server.signal('SIGSTOP')
      await sleep(3_000)
      server.signal('SIGCONT')
    })
    expectAllStored(imported)
    expect(await server.endAndRead()).toEqual(everyRow)
  })

  test.each<[what: string, status: number, headers: Record<string, string>, state: string]>([
    ['has a proxy that says 503', 503, {}, 'outage'],
    ['has a proxy that says 502', 502, {}, 'outage'],
    ['has a proxy that says 503 and when to come back', 503, { 'retry-after': '2' }, 'waiting'],
    ['has a proxy that says 429', 429, { 'retry-after': '1' }, 'waiting'],
  ])('%s for 3 s', async (_what, status, headers, state) => {
    const server = await startRestartableServer()
    let isFailing = false
    const proxy = await startProxy(server.url, () => (isFailing ? { status, headers } : undefined))
    const imported = await importPlants(server, proxy.url, { maxRetries: 0 }, async () => {
      isFailing = true
      await sleep(3_000)
      isFailing = false
    })
    expectAllStored(imported)
    expect(imported.states).toContain(state)
    expect(await server.endAndRead()).toEqual(everyRow)
    proxy.close()
  })
})

test('a bulk whose server never comes back ends after maxOutageMs, and leaves no timer', async () => {
  const server = await startRestartableServer()
  const timers = watchTimers()
  let diedAt = Number.NaN
  const failure: unknown = await importPlants(
    server,
    server.url,
    { maxOutageMs: 2_000 },
    async () => {
      diedAt = performance.now()
      await server.end('SIGKILL')
    },
  ).catch((error: unknown) => error)
  const lastedMs = performance.now() - diedAt
  timers.stop()
  expect(failure).toMatchObject({ code: 'connection_failed', reason: 'ECONNREFUSED' })
  expect(lastedMs).toBeGreaterThan(2_000)
  // On a busy machine its last attempt takes its time.
  expect(lastedMs).toBeLessThan(10_000)
  expect(timers.count()).toBe(0)
  // All that was given as stored is, and not less.
  expect((await server.endAndRead()).length).toBeGreaterThanOrEqual(500)
})

interface Refusal {
  readonly status: number
  readonly headers: Record<string, string>
}

/** A proxy of HTTP that may reply by itself. */
async function startProxy(target: string, refuse: () => Refusal | undefined) {
  const server: Server = createServer((incoming, reply) => {
    const refusal = refuse()
    if (refusal !== undefined) {
      incoming.resume()
      reply.writeHead(refusal.status, { 'content-type': 'text/html', ...refusal.headers })
      reply.end('<h1>no</h1>')
      return
    }
    const { method, url, headers } = incoming
    const outgoing = request(new URL(url ?? '/', target), { method, headers }, (response) => {
      reply.writeHead(response.statusCode ?? 0, response.headers)
      response.pipe(reply)
    })
    incoming.pipe(outgoing)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
