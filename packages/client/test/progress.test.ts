import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createClient } from '../src/client.ts'
import { createPlantsWith } from '../src/create-plants.ts'
import type { CreatePlantsProgress, CreatePlantsResult } from '../src/index.ts'
import { type Fern, ferns, idOf } from './bulk-run.ts'
import { createFakeFetch, delay, fetchFailed, replyFern, replyJson } from './fake-fetch.ts'
import { createFakeRuntime, createSeededRandom, type FakeRuntime } from './fake-runtime.ts'

const ROWS = 120

/** What the loop of a run has done, beside what the progress claimed at each call. */
interface Watched {
  /** Rows whose body of the loop has ended. */
  readonly done: ReadonlySet<number>
  readonly results: ReadonlyMap<number, CreatePlantsResult<Fern>>
  readonly last: CreatePlantsProgress | undefined
  readonly hasEnded: boolean
  /** What the progress claimed and was not so; what its listener throws would change nothing. */
  readonly untruths: readonly string[]
}

/** A reply at random: late, lost, refused, limited, or a plant. */
async function replyAtRandom(runtime: FakeRuntime, random: () => number, id: number) {
  await delay(runtime, random() * (random() < 0.1 ? 3_000 : 40))
  const kind = random()
  if (kind < 0.05) throw fetchFailed('ECONNRESET', 'read')
  if (kind < 0.08) return replyJson(500, { error: 50000, message: 'internal' })
  if (kind < 0.1) return replyJson(429, { error: 42900, message: 'many' }, { 'retry-after': '1' })
  if (kind < 0.11) return replyJson(503, { error: 50300, message: 'full' })
  if (id % 7 === 3) return replyJson(400, { error: 40003, message: 'taken' })
  return replyFern()
}

/** Runs a bulk that ends in any way, and holds each claim of its progress against what was done. */
async function runAtRandom(seed: number): Promise<Watched> {
  const random = createSeededRandom(seed)
  const runtime = createFakeRuntime(random)
  const { fetch } = createFakeFetch(({ body }) => {
    const endsAll = seed % 4 === 1 && random() < 0.01
    if (endsAll) return replyJson(401, { error: 40101, message: 'no' })
    if (seed % 4 === 2 && runtime.now() > 3_000) throw fetchFailed('ECONNREFUSED', 'connect')
    return replyAtRandom(runtime, random, idOf(body))
  })
  const client = createClient({ baseUrl: 'http://127.0.0.1:3000', token: 'token', fetch }, runtime)
  const done = new Set<number>()
  const results = new Map<number, CreatePlantsResult<Fern>>()
  let last: CreatePlantsProgress | undefined
  let hasEnded = false
  const untruths: string[] = []
  const onProgress = (progress: CreatePlantsProgress) => {
    const { sent, stored, alreadyThere, settledRows } = progress
    if (settledRows < (last?.settledRows ?? 0)) untruths.push('the mark goes back')
    for (let row = 0; row < settledRows; row++) if (!done.has(row)) untruths.push(`row ${row}`)
    if (stored + alreadyThere > sent) untruths.push('more is stored than was sent')
    last = progress
  }
  const options = { concurrency: 1 + (seed % 9), maxOutageMs: 20_000, onProgress }
  const work = async () => {
    for await (const result of createPlantsWith(client, ferns(ROWS), options, runtime)) {
      results.set(result.index, result)
      if (random() < 0.3) await delay(runtime, random() * 300)
      if (seed % 4 === 3 && random() < 0.01) break
      done.add(result.index)
    }
    hasEnded = seed % 4 !== 3
  }
  await runtime.runUntilDone(work()).catch(() => {})
  // Replies to the calls of a loop that was left are still on their way.
  if (seed % 4 !== 3) expect(runtime.running).toBe(0)
  return { done, results, last, hasEnded, untruths }
}

describe('settledRows, over 100 runs with random failures, ends, and loops of any speed,', () => {
  test('passes no row whose body of the loop has not ended, and no row that failed with the bulk', async () => {
    let ended = 0
    for (let seed = 0; seed < 100; seed++) {
      const { done, results, last, hasEnded, untruths } = await runAtRandom(seed)
      expect(untruths).toEqual([])
      const settledRows = last?.settledRows ?? 0
      // What was done from the first row on, and is a result of its own, is passed.
      for (let row = 0; row < settledRows; row++) {
        const result = results.get(row)
        const error = result?.ok === false ? result.error : undefined
        expect(['unauthorized', 'aborted', 'connection_failed']).not.toContain(error?.code)
      }
      if (!hasEnded) continue
      ended++
      expect([settledRows, done.size]).toEqual([ROWS, ROWS])
      expect((last?.stored ?? 0) + (last?.alreadyThere ?? 0) + (last?.rejected ?? 0)).toBe(ROWS)
      expect(last?.sent).toBe(ROWS)
    }
    expect(ended).toBeGreaterThan(25)
    expect(ended).toBeLessThan(90)
  })
})

test('a loop that is left is notified once more, and leaves no timer', async () => {
  const runtime = createFakeRuntime()
  const { fetch } = createFakeFetch(({ body }) =>
    idOf(body) === 0 ? replyFern() : new Promise<never>(() => {}),
  )
  const client = createClient({ baseUrl: 'http://127.0.0.1:3000', token: 'token', fetch }, runtime)
  const seen: CreatePlantsProgress[] = []
  const onProgress = (progress: CreatePlantsProgress) => void seen.push(progress)
  for await (const _ of createPlantsWith(client, ferns(100), { onProgress }, runtime)) break
  await setImmediate()
  expect(runtime.running).toBe(0)
  expect(seen.at(-1)).toMatchObject({ stored: 1, settledRows: 0 })
})

test('a bulk runs at most 4,096 plants ahead of one that has no result yet', async () => {
  const runtime = createFakeRuntime()
  const held = Promise.withResolvers<void>()
  let read = 0
  function* counted() {
    for (const fern of ferns(10_000)) {
      read++
      yield fern
    }
  }
  const { fetch } = createFakeFetch(async ({ body }) => {
    if (idOf(body) === 5) await held.promise
    return replyFern()
  })
  const client = createClient({ baseUrl: 'http://127.0.0.1:3000', token: 'token', fetch }, runtime)
  let most = 0
  let taken = 0
  const options = { onProgress: ({ settledRows }: CreatePlantsProgress) => (most = settledRows) }
  const work = async () => {
    for await (const _ of createPlantsWith(client, counted(), options, runtime)) {
      // All but the held one of those that may be read.
      if (++taken === 4_096 + 5 - 1) {
        expect(read).toBe(4_096 + 5)
        held.resolve()
      }
    }
  }
  await runtime.runUntilDone(work())
  expect([read, taken, most]).toEqual([10_000, 10_000, 10_000])
})
