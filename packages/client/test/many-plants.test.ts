import { getEventListeners } from 'node:events'
import { Readable } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import { createPlantStoreClient, createPlants } from '../src/index.ts'
import { type Fern, ferns, runBulk, runToEnd, type Script, upTo } from './bulk-run.ts'
import {
  createFakeClient,
  delay,
  fetchFailed,
  given,
  hang,
  lose,
  refuse,
  respondFern,
  stopClocks,
  tooMany,
} from './fakes.ts'

const untrusted = () => Promise.reject(fetchFailed('CERT_HAS_EXPIRED'))

describe('every plant of a source comes back once', () => {
  async function* slowly() {
    yield* ferns(40)
  }
  const stream = Readable.toWeb(Readable.from(ferns(40))) as ReadableStream<Fern>

  test.each<[string, Iterable<Fern> | AsyncIterable<Fern>]>([
    ['a generator', ferns(40)],
    ['an array', [...ferns(40)]],
    ['an async generator', slowly()],
    ['a stream', stream],
  ])('from %s', async (_what, source) => {
    const { results } = await runToEnd({ respond: respondFern, source })
    expect(results.map(({ index, input }) => [index, input.id])).toEqual(
      upTo(40).map((id) => [id, id]),
    )
  })

  test('as they finish, with the plant as it was given', async () => {
    const respond = async (id: number) => {
      if (id === 0) await delay(100)
      return respondFern()
    }
    const source = [...ferns(5)]
    const { results } = await runBulk({ respond, source, concurrency: 2 })
    expect(results.map(({ index }) => index)).toEqual([1, 2, 3, 4, 0])
    expect(results[4]?.input).toBe(source[0])
  })
})

describe('it goes no faster than it may', () => {
  test.each([1, 3, 16])('%i at once, and no further read ahead', async (concurrency) => {
    const most = { read: 0, inFlight: 0 }
    let [read, taken, inFlight] = [0, 0, 0]
    function* source() {
      for (const fern of ferns(60)) {
        most.read = Math.max(most.read, ++read - taken)
        yield fern
      }
    }
    const respond = async () => {
      most.inFlight = Math.max(most.inFlight, ++inFlight)
      await delay(10)
      inFlight--
      return respondFern()
    }
    const onResult = async () => {
      await delay(taken % 7 === 0 ? 50 : 1)
      taken++
    }
    await runBulk({ respond, source: source(), concurrency, onResult })
    expect([taken, most.inFlight]).toEqual([60, concurrency])
    expect(most.read).toBeLessThanOrEqual(concurrency)
  })

  test('one 429 pauses all until its Retry-After, never longer than 10 % more', async () => {
    const respond = (id: number, _at: number, attempt: number) =>
      id === 0 && attempt < 17 ? tooMany(2)() : respondFern()
    const { sent } = await runToEnd({ respond })
    const after = sent.slice(16).map(({ at }) => at - 10)
    expect(Math.min(...after)).toBeGreaterThanOrEqual(2_000)
    expect(Math.min(...after)).toBeLessThanOrEqual(2_202)
    expect(sent).toHaveLength(42)
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
      respond(_id, _at, attempt) {
        if (attempt > 1) return respondFern()
        setImmediate(pause.resolve)
        return tooMany(1)()
      },
      concurrency: 2,
    })
    expect(sent.map(({ at }) => at >= 1_000)).toEqual([false, true, true, true])
  })

  test('a plant that waits to be sent again waits on where another has to wait longer', async () => {
    const respond = async (id: number, _at: number, attempt: number) => {
      if (attempt > 2) return respondFern()
      await delay(id * 500)
      return tooMany(id === 0 ? 1 : 3)()
    }
    const { sent } = await runToEnd({ respond, rows: 2 })
    expect(sent.slice(2).map(({ at }) => at >= 3_510)).toEqual([true, true, true])
  })
})

describe('what concerns every plant ends it', () => {
  const refused = refuse(40101)
  const failing = () => Promise.reject(new Error('closed'))
  const close = () => {
    throw new Error('cleanup')
  }
  const unclosable = { [Symbol.iterator]: () => Object.assign(ferns(40), { return: close }) }

  test.each<[string, Partial<Script>, string]>([
    ['401', { respond: refused }, 'unauthorized'],
    ['401, of a source that throws', { respond: refused, source: unclosable }, 'unauthorized'],
    ['403', { respond: refuse(40300) }, 'forbidden'],
    ['a token function that fails', { client: { token: failing } }, 'token_provider_failed'],
  ])('%s: what was on its way is given, then it throws', async (_what, script, code) => {
    const run = await runBulk({ respond: respondFern, concurrency: 4, maxRetries: 0, ...script })
    expect(run.thrown).toMatchObject({ code })
    expect(run.failed).toEqual(run.results)
    expect(run.results.length).toBeGreaterThan(0)
    expect(run.results.length).toBeLessThanOrEqual(4)
    expect(run.sent).toHaveLength(script.client ? 0 : run.results.length)
  })

  test('20 plants in a row that got no word of the server, and not fewer', async () => {
    function* source() {
      for (let id = 0; id < 200; id++)
        yield { id, name: id % 3 === 0 ? (undefined as never) : 'Fern' }
    }
    // Those that are no plants do not count.
    const lost = await runBulk({ respond: untrusted, source: source(), concurrency: 1 })
    expect(lost.thrown).toMatchObject({ code: 'tls_failed' })
    expect(lost.sent).toHaveLength(20)
    const respond = (id: number) => (id % 20 === 19 ? respondFern() : untrusted())
    expect((await runBulk({ respond, concurrency: 1, rows: 100 })).thrown).toBeUndefined()
  })

  test('20 that only what is never a plant gets past', async () => {
    const invalid = refuse(40002)
    const respond = (id: number) => (Number.isNaN(id) ? invalid() : lose())
    const { thrown, results } = await runBulk({ respond, rows: 200 })
    expect(thrown).toMatchObject({ code: 'connection_lost' })
    expect(results.length).toBeGreaterThanOrEqual(20)
    expect(results.length).toBeLessThan(36)
  })

  test('an abort, at once, with a result for what was on its way', async () => {
    const controller = new AbortController()
    const reason = new Error('winter')
    const { signal } = controller
    const respond = (id: number) => {
      if (id === 5) controller.abort(reason)
      return hang()
    }
    const { results, thrown } = await runBulk({ respond, signal, concurrency: 6 })
    expect(thrown).toMatchObject({ code: 'aborted', cause: reason })
    const aborted = { ok: false, error: { code: 'aborted', applied: 'maybe' } }
    expect(results).toMatchObject(Array(6).fill(aborted))
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('an abort while the source gives nothing', async () => {
    const controller = new AbortController()
    const { signal } = controller
    // Its end waits for its next plant.
    async function* source() {
      controller.abort()
      await new Promise<never>(() => {})
      yield* ferns(1)
    }
    const { thrown } = await runBulk({ respond: respondFern, source: source(), signal })
    expect(thrown).toMatchObject({ code: 'aborted' })
  })

  test('an abort before the first plant', async () => {
    const signal = AbortSignal.abort()
    const { sent, thrown } = await runBulk({ respond: respondFern, signal })
    expect([sent, thrown]).toMatchObject([[], { code: 'aborted', applied: 'no' }])
  })
})

test('a loop that is left is aborts its calls, and leaves no timer', async () => {
  stopClocks()
  const { sent, ...client } = createFakeClient([respondFern, hang])
  for await (const _ of createPlants(client, ferns(100))) break
  await new Promise(setImmediate)
  expect(vi.getTimerCount()).toBe(0)
  expect(sent.slice(1).every(({ signal }) => signal.aborted)).toBe(true)
})

describe('before it begins', () => {
  const client = createPlantStoreClient(given)

  test.each([undefined, null, 5, {}, 'abc'])('%o is refused as a source', (source) => {
    expect(() => createPlants(client, source as never)).toThrow('source must be iterable')
  })

  test('a signal gets no listener, nor from a source that cannot be opened', async () => {
    const { signal } = new AbortController()
    const source = new ReadableStream<Fern>()
    source.getReader()
    const run = createPlants(client, source, { signal })
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    await expect(run.next()).rejects.toThrow(/locked/)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})
