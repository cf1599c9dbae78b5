import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createClient } from '../src/client.ts'
import { type CreatePlantOptions, createPlantStoreClient } from '../src/index.ts'
import { type Runtime, systemRuntime } from '../src/runtime.ts'
import { createFakeFetch, fetchFailed, replyFern, replyJson } from './fake-fetch.ts'
import { type Reply, replyWith, startReplyingServer } from './replying-server.ts'

const baseUrl = 'http://127.0.0.1:3000'
const FERN = { id: 7, name: 'Fern' }

/** The machine's clock without its waits, and a count of the timers that run. */
function countTimers(): Runtime & { readonly running: number } {
  let running = 0
  return {
    ...systemRuntime,
    random: () => 0,
    startTimer(callback, ms) {
      let isOver = false
      running++
      const end = () => {
        if (!isOver) running--
        isOver = true
      }
      const stop = systemRuntime.startTimer(() => {
        end()
        callback()
      }, ms)
      return () => {
        end()
        stop()
      }
    },
    get running() {
      return running
    },
  }
}

test('300 calls at a time have one listener on the signal, and none in the end', async () => {
  const { signal } = new AbortController()
  const { fetch } = createFakeFetch(replyFern)
  const client = createPlantStoreClient({ baseUrl, token: 'token', fetch })
  const calls = Array.from({ length: 300 }, (_, id) =>
    client.createPlant({ id, name: 'Fern' }, { signal }),
  )
  await Promise.resolve()
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  await Promise.all(calls)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

test('10,000 calls on one signal leave no listener and no timer', async () => {
  const { signal } = new AbortController()
  const runtime = countTimers()
  const { fetch } = createFakeFetch(({ body }) => {
    const id = Number(/\d+/.exec(body))
    if (id % 100 === 1) return replyJson(400, { error: 40003, message: 'taken' })
    if (id % 100 === 2) return replyJson(503, { error: 50300, message: 'full' })
    if (id % 100 === 3) throw fetchFailed('ECONNRESET', 'read')
    if (id % 100 === 4) return new Response('<html>')
    return replyFern()
  })
  const client = createClient({ baseUrl, token: 'token', fetch, maxRetries: 1 }, runtime)
  let stored = 0
  for (let id = 0; id < 10_000; id++) {
    const { ok } = await client.tryCreatePlant({ id, name: 'Fern' }, { signal })
    if (ok) stored++
  }
  expect(stored).toBe(9_600)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  expect(runtime.running).toBe(0)
})

describe('over real sockets, no listener and no timer is left', () => {
  const timersLeft = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout')

  test.each<[string, Reply, CreatePlantOptions]>([
    ['by a stored plant', replyWith(200, { name: 'Fern' }), {}],
    ['by a refusal', replyWith(400, { error: 40003, message: 'taken' }), {}],
    ['by a lost connection', (response) => response.socket?.destroy(), { maxRetries: 0 }],
    ['by a timeout', () => {}, { maxRetries: 0, timeoutMs: 20 }],
    ['by a long Retry-After', replyWith(503, {}, { 'retry-after': '99' }), {}],
  ])('%s', async (_what, reply, options) => {
    await using server = await startReplyingServer(reply)
    const { tryCreatePlant } = createPlantStoreClient({ baseUrl: server.url, token: 'token' })
    const { signal } = new AbortController()
    const before = timersLeft().length
    await tryCreatePlant(FERN, { ...options, signal })
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    expect(timersLeft().length).toBeLessThanOrEqual(before)
  })
})
