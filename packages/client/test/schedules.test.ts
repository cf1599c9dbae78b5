import { describe, expect, test } from 'vitest'
import { createClient } from '../src/client.ts'
import { isPlantStoreError } from '../src/index.ts'
import type { Runtime } from '../src/runtime.ts'
import { createFakeFetch, delay, fetchFailed, replyFern, replyJson } from './fake-fetch.ts'
import { createFakeRuntime, createSeededRandom } from './fake-runtime.ts'

const baseUrl = 'http://127.0.0.1:3000'

/** A body that stops in the middle, and fails after a time if one is given. */
function stallingBody(runtime: Runtime, failsAfterMs: number): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"name":'))
      void delay(runtime, failsAfterMs).then(() =>
        controller.error(fetchFailed('ECONNRESET', 'read')),
      )
    },
  })
}

/** One thing that may happen to a request, at random. */
async function misfortune(runtime: Runtime, random: () => number, unitMs: number) {
  const ms = () => random() * unitMs
  const kind = Math.floor(random() * 8)
  if (kind < 7) await delay(runtime, ms() * (random() < 0.2 ? 10 : 1))
  const retryAfter = { 'retry-after': String(Math.floor((random() * unitMs) / 400)) }
  if (kind === 0) return replyFern()
  if (kind === 1) throw fetchFailed('ECONNREFUSED', 'connect')
  if (kind === 2) throw fetchFailed('ECONNRESET', 'read')
  if (kind === 3) return replyJson(503, { error: 50300, message: 'full' }, retryAfter)
  if (kind === 4) return replyJson(429, { error: 42900, message: 'many' }, retryAfter)
  if (kind === 5) return new Response('<html>', { status: 502 })
  if (kind === 6) return new Response(stallingBody(runtime, ms() * 4))
  return new Promise<never>(() => {})
}

/** A call among random misfortunes; gives how long after a bare timer of its time it ended, in ms. */
async function runSchedule(runtime: Runtime, random: () => number, unitMs: number) {
  const totalTimeoutMs = (0.5 + random() * 3) * unitMs
  const { fetch } = createFakeFetch(() => misfortune(runtime, random, unitMs))
  const token = async () => {
    await delay(runtime, random() * unitMs * (random() < 0.1 ? 10 : 0.2))
    return 'token'
  }
  const limits = { totalTimeoutMs, timeoutMs: unitMs * random() + 1, maxRetries: 20 }
  const client = createClient({ baseUrl, token, fetch, ...limits }, runtime)
  const timeIsUp = delay(runtime, totalTimeoutMs).then(() => runtime.now())
  const result = await client.tryCreatePlant({ id: 7, name: 'Fern' })
  const endedAt = runtime.now()
  if (!result.ok) expect(isPlantStoreError(result.error)).toBe(true)
  return endedAt - (await timeIsUp)
}

describe('no schedule of faults makes a call pass its time', () => {
  test('by a clock of its own, 1,000 times', async () => {
    let latest = Number.NEGATIVE_INFINITY
    for (let seed = 0; seed < 1_000; seed++) {
      const random = createSeededRandom(seed)
      const runtime = createFakeRuntime(random)
      const overrun = await runtime.runUntilDone(runSchedule(runtime, random, 2_000))
      latest = Math.max(latest, overrun)
    }
    expect(latest).toBeLessThanOrEqual(0)
    expect(latest).toBeGreaterThan(-1)
  })
})
