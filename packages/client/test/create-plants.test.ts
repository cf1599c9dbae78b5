import { describe, expect, test } from 'vitest'
import type { PlantSource } from '../src/bulk.ts'
import { createClient } from '../src/client.ts'
import { createPlantsWith } from '../src/create-plants.ts'
import { type Fern, ferns, runBulk, tooMany } from './bulk-run.ts'
import { createFakeFetch, delay, replyFern } from './fake-fetch.ts'
import { createFakeRuntime, type FakeRuntime } from './fake-runtime.ts'

describe('every plant of a source comes back once', () => {
  async function* slowly(): AsyncGenerator<Fern> {
    for (const fern of ferns(40)) {
      await Promise.resolve()
      yield fern
    }
  }

  test.each<[string, PlantSource<Fern>]>([
    ['a generator', ferns(40)],
    ['an array', [...ferns(40)]],
    ['an async generator', slowly()],
    [
      'a stream',
      new ReadableStream<Fern>({
        start(controller) {
          for (const fern of ferns(40)) controller.enqueue(fern)
          controller.close()
        },
      }) as unknown as AsyncIterable<Fern>,
    ],
  ])('from %s', async (_what, source) => {
    const { results, thrown } = await runBulk({ reply: replyFern, source })
    expect(thrown).toBeUndefined()
    expect(results.map(({ index, input, ok }) => [index, input.id, ok])).toEqual(
      [...ferns(40)].map(({ id }) => [id, id, true]),
    )
  })

  test('as they finish, with the plant as it was given', async () => {
    const reply = async (id: number, runtime: FakeRuntime) => {
      if (id === 0) await delay(runtime, 100)
      return replyFern()
    }
    const source = [...ferns(5)]
    const { results } = await runBulk({ reply, source, options: { concurrency: 2 } })
    expect(results.map(({ index }) => index)).toEqual([1, 2, 3, 4, 0])
    expect(results[4]?.input).toBe(source[0])
  })
})

describe('it goes no faster than it may', () => {
  test.each([1, 3, 16])('%i at once, and no further read ahead', async (concurrency) => {
    let read = 0
    let taken = 0
    let most = 0
    function* counted() {
      for (const fern of ferns(60)) {
        most = Math.max(most, ++read - taken)
        yield fern
      }
    }
    const runtime = createFakeRuntime()
    let inFlight = 0
    let mostInFlight = 0
    const { fetch } = createFakeFetch(async () => {
      mostInFlight = Math.max(mostInFlight, ++inFlight)
      await delay(runtime, 10)
      inFlight--
      return replyFern()
    })
    const client = createClient({ baseUrl: 'http://127.0.0.1', token: 'token', fetch }, runtime)
    const work = async () => {
      for await (const _ of createPlantsWith(client, counted(), { concurrency }, runtime)) {
        await delay(runtime, taken % 7 === 0 ? 50 : 1)
        taken++
      }
    }
    await runtime.runUntilDone(work())
    expect([taken, mostInFlight]).toEqual([60, concurrency])
    expect(most).toBeLessThanOrEqual(concurrency)
  })

  test('a pause holds a plant too whose reading began before it', async () => {
    const pause = Promise.withResolvers<void>()
    async function* source() {
      yield* ferns(1)
      await pause.promise
      yield { id: 1, name: 'Fern' }
    }
    const { sent } = await runBulk({
      source: source(),
      reply(_id, _runtime, attempt) {
        if (attempt > 1) return replyFern()
        setImmediate(pause.resolve)
        return tooMany('1')
      },
      options: { concurrency: 2 },
    })
    expect(sent).toHaveLength(3)
    const [first, ...later] = sent.map(({ at }) => at)
    expect(Math.min(...later)).toBeGreaterThanOrEqual((first ?? 0) + 1_000)
  })

  test('one 429 pauses all until its Retry-After, never longer than 10 % more', async () => {
    const reply = (id: number, _: FakeRuntime, attempt: number) =>
      id === 0 && attempt < 17 ? tooMany('2') : replyFern()
    const { results, sent } = await runBulk({ reply })
    expect(results.every(({ ok }) => ok)).toBe(true)
    const after = sent.slice(16).map(({ at }) => at - 1_010)
    expect(Math.min(...after)).toBeGreaterThanOrEqual(2_000)
    expect(Math.min(...after)).toBeLessThanOrEqual(2_200)
    expect(sent).toHaveLength(41)
  })

  describe('a plant that waits to be sent again', () => {
    /** The first plant has to wait 1 s; before that is over the second has to wait 3 s. */
    const reply = async (id: number, runtime: FakeRuntime, attempt: number) => {
      if (attempt > 2) return replyFern()
      await delay(runtime, id * 500)
      return tooMany(id === 0 ? '1' : '3')
    }

    test('waits on where another has to wait longer', async () => {
      const { results, sent } = await runBulk({ reply, source: ferns(2) })
      expect(results.map(({ ok }) => ok)).toEqual([true, true])
      expect(sent.slice(2).map(({ at }) => at >= 4_510)).toEqual([true, true])
    })

    test('loses none of its own time and retries by it', async () => {
      const options = { totalTimeoutMs: 500, maxRetries: 0 }
      const refuse = (_id: number, _runtime: FakeRuntime, attempt: number) =>
        attempt > 2 ? replyFern() : tooMany('3')
      const { results } = await runBulk({ reply: refuse, source: ferns(1), options })
      expect(results).toMatchObject([{ ok: true, meta: { attempts: 3 } }])
    })
  })
})
