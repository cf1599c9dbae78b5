import { getEventListeners } from 'node:events'
import { Readable } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import { createPlantStoreClient, createPlants } from '../src/index.ts'
import { ferns, runBulk, runToEnd, type Script } from './bulk-run.ts'
import { delay, fetchFailed, given, hang, lose, refuse, respondFern } from './fakes.ts'

describe('every plant of a source comes back once', () => {
  test.each<[string, NonNullable<Script['source']>]>([
    ['a generator', ferns(40).values()],
    ['an array', ferns(40)],
    ['a stream of Node.js', Readable.from(ferns(40))],
    ['a stream of the web', Readable.toWeb(Readable.from(ferns(40))) as ReadableStream],
  ])('from %s', async (_what, source) => {
    const { results } = await runToEnd({ respond: respondFern, source })
    expect(results.every(({ index, input }) => index === input.id)).toBe(true)
  })

  test('as they finish, with the plant as it was given', async () => {
    const respond = (id: number) => delay(id === 0 ? 100 : 0).then(respondFern)
    const source = ferns(5)
    const { results } = await runBulk({ respond, source, concurrency: 2 })
    expect(results.map(({ index }) => index)).toEqual([1, 2, 3, 4, 0])
    expect(results[4]?.input).toBe(source[0])
  })

  test.each([1, 3, 16])('%i at once, and no further read ahead', async (concurrency) => {
    let taken = 0
    const ahead: number[] = []
    function* source() {
      for (const fern of ferns(40)) {
        ahead.push(fern.id + 1 - taken)
        yield fern
      }
    }
    const onResult = () => delay(++taken % 7 === 0 ? 50 : 1)
    const script = { respond: respondFern, source: source(), concurrency, onResult }
    const { sent } = await runToEnd(script)
    expect(Math.max(...ahead)).toBe(concurrency)
    expect(sent.filter(({ at }) => at === 0)).toHaveLength(concurrency)
  })
})

describe('what concerns every plant ends it', () => {
  const untrusted = () => Promise.reject(fetchFailed('CERT_HAS_EXPIRED'))
  const losePlants = (id: number) => (Number.isNaN(id) ? refuse(40002)() : lose())
  const refused = refuse(40101)
  const token = () => Promise.reject(new Error('closed'))
  const unclosable = Object.assign(ferns(40).values(), { return: () => JSON.parse('cleanup') })

  test.each<[string, Partial<Script>, string]>([
    ['401', { respond: refused }, 'unauthorized'],
    ['401, of a source that throws', { respond: refused, source: unclosable }, 'unauthorized'],
    ['403', { respond: refuse(40300) }, 'forbidden'],
    ['a token function that fails', { client: { token } }, 'token_provider_failed'],
  ])('%s: what was on its way is given, then it throws', async (_what, script, code) => {
    const run = await runBulk({ respond: respondFern, concurrency: 4, maxRetries: 0, ...script })
    expect(run.thrown).toMatchObject({ code })
    expect(run.failed).toHaveLength(4)
    expect(run.sent).toHaveLength(script.client ? 0 : 4)
  })

  test.each<[string, Script['respond'], string]>([
    ['plants in a row', untrusted, 'tls_failed'],
    ['that only what is never a plant gets past', losePlants, 'connection_lost'],
  ])('20 %s without a word of the server', async (_what, respond, code) => {
    // Those that are no plants do not count.
    const source = ferns(200).map((fern) => (fern.id % 3 === 0 ? { ...fern, id: 0.5 } : fern))
    const { thrown, results } = await runBulk({ respond, source, concurrency: 1 })
    expect(results.filter(({ meta }) => meta.attempts > 0)).toHaveLength(20)
    expect(thrown).toMatchObject({ code })
  })

  test('no 19 plants in a row without a word of the server', async () => {
    const respond = (id: number) => (id % 20 === 19 ? respondFern() : untrusted())
    expect((await runBulk({ respond, concurrency: 1, rows: 100 })).thrown).toBeUndefined()
  })

  test('what the source throws, once the results before it are given', async () => {
    const torn = new Error('torn')
    async function* source() {
      yield* ferns(3)
      throw torn
    }
    const { indexes, thrown } = await runBulk({ respond: respondFern, source: source() })
    expect([indexes, thrown]).toEqual([[0, 1, 2], torn])
  })

  test('an abort, at once, with a result for what was on its way', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const respond = (id: number) => {
      if (id === 5) controller.abort('winter')
      return hang()
    }
    const { results, thrown } = await runBulk({ respond, signal, concurrency: 6 })
    expect(thrown).toMatchObject({ code: 'aborted', cause: 'winter' })
    const aborted = { ok: false, error: { code: 'aborted', applied: 'maybe' } }
    expect(results).toMatchObject(Array(6).fill(aborted))
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('an abort while the source gives nothing, which closes it', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const next = () => {
      controller.abort()
      return new Promise<never>(() => {})
    }
    const plants = { next, return: vi.fn(next) }
    const source = { [Symbol.asyncIterator]: () => plants }
    const { thrown } = await runBulk({ respond: respondFern, source, signal })
    expect(thrown).toMatchObject({ code: 'aborted' })
    expect(plants.return).toHaveBeenCalledTimes(1)
  })

  test('an abort before the first plant', async () => {
    const { sent, thrown } = await runBulk({ respond: respondFern, signal: AbortSignal.abort() })
    expect([sent, thrown]).toMatchObject([[], { code: 'aborted', applied: 'no' }])
  })
})

test('a loop that is left closes its source, and ends its calls and their timers', async () => {
  const close = vi.fn()
  const source = Object.assign(ferns(40).values(), { return: () => delay(5).then(close) })
  const respond = (id: number) => (id === 0 ? respondFern() : hang())
  const { thrown } = await runBulk({ respond, source, onResult: () => Promise.reject('left') })
  expect(thrown).toBe('left')
  expect(close).toHaveBeenCalledTimes(1)
})

test.each([undefined, null, 5, {}, 'abc'])('%o is refused as a source', (source) => {
  const open = () => createPlants(createPlantStoreClient(given), source as never)
  expect(open).toThrow('source must be iterable')
})

test('a signal keeps no listener from a source that cannot be opened', async () => {
  const { signal } = new AbortController()
  const source = new ReadableStream()
  source.getReader()
  const run = createPlants(createPlantStoreClient(given), source, { signal })
  await expect(run.next()).rejects.toThrow(/locked/)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})
