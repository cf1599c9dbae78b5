import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createPlantStoreClient, createPlants } from '../src/index.ts'
import { type Fern, ferns, runBulk, tooMany } from './bulk-run.ts'
import { type FakeReply, fetchFailed, replyFern, replyJson } from './fake-fetch.ts'

describe('what concerns every plant ends it', () => {
  test.each<[string, FakeReply | (() => Response), string]>([
    ['401', () => replyJson(401, { error: 40101, message: 'no' }), 'unauthorized'],
    ['403', () => replyJson(403, { error: 40300, message: 'no' }), 'forbidden'],
    ['a Retry-After beyond the limit', () => tooMany('31'), 'rate_limited'],
    [
      'no connection',
      () => Promise.reject(fetchFailed('ECONNREFUSED', 'connect')) as never,
      'connection_failed',
    ],
  ])('%s: what was on its way is given, then it throws', async (_what, reply, code) => {
    const { results, thrown, sent } = await runBulk({
      reply: reply as () => Response,
      source: ferns(200),
      options: { concurrency: 4, maxRetries: 0, maxOutageMs: 0 },
    })
    expect(thrown).toMatchObject({ code })
    // One more asks whether the server is there.
    expect(sent.length - results.length).toBeLessThanOrEqual(1)
    expect(results.length).toBeLessThan(30)
    expect(results.every(({ ok }) => !ok)).toBe(true)
  })

  test('a token function that fails', async () => {
    const client = { token: () => Promise.reject(new Error('closed')) }
    const { thrown, results, sent } = await runBulk({ reply: replyFern, client })
    expect(thrown).toMatchObject({ code: 'token_provider_failed' })
    expect(sent).toEqual([])
    expect(results.length).toBeGreaterThan(0)
    expect(results.length).toBeLessThanOrEqual(16)
  })

  test('20 plants in a row that got no word of the server, among others that cannot be sent, and not fewer', async () => {
    function* source() {
      for (let id = 0; id < 200; id++)
        yield { id, name: id % 3 === 0 ? (undefined as never) : 'Fern' }
    }
    const untrusted = () => Promise.reject(fetchFailed('CERT_HAS_EXPIRED')) as never
    const options = { concurrency: 1 }
    const lost = await runBulk({ reply: untrusted, source: source(), options })
    expect(lost.thrown).toMatchObject({ code: 'tls_failed' })
    expect(lost.sent).toHaveLength(20)
    const reply = (id: number) => (id % 20 === 19 ? replyFern() : untrusted())
    expect((await runBulk({ reply, options, source: ferns(100) })).thrown).toBeUndefined()
  })

  test('a refused token, whatever the source throws when it is closed', async () => {
    const close = () => {
      throw new Error('cleanup')
    }
    const source = {
      [Symbol.iterator]: () => Object.assign(ferns(40), { return: close }),
    } as Iterable<Fern>
    const reply = () => replyJson(401, { error: 40101, message: 'no' })
    const { thrown } = await runBulk({ reply, source, options: { maxRetries: 0 } })
    expect(thrown).toMatchObject({ code: 'unauthorized' })
  })

  test('an abort, at once, with a result for what was on its way', async () => {
    const controller = new AbortController()
    const reason = new Error('winter')
    const reply = (id: number) => {
      if (id === 5) controller.abort(reason)
      return new Promise<never>(() => {})
    }
    const { signal } = controller
    const { results, thrown } = await runBulk({ reply, options: { signal, concurrency: 6 } })
    expect(thrown).toMatchObject({ code: 'aborted', cause: reason })
    expect(results).toHaveLength(6)
    expect(results).toMatchObject(
      Array(6).fill({ ok: false, error: { code: 'aborted', applied: 'maybe' } }),
    )
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('an abort while the source gives nothing', async () => {
    const controller = new AbortController()
    const source: AsyncIterable<Fern> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          controller.abort()
          return new Promise(() => {})
        },
      }),
    }
    const { thrown } = await runBulk({
      reply: replyFern,
      source,
      options: { signal: controller.signal },
    })
    expect(thrown).toMatchObject({ code: 'aborted' })
  })

  test('an abort before the first plant', async () => {
    const { sent, thrown } = await runBulk({
      reply: replyFern,
      options: { signal: AbortSignal.abort() },
    })
    expect([sent, thrown]).toMatchObject([[], { code: 'aborted', applied: 'no' }])
  })
})

describe('before it begins', () => {
  const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1:3000', token: 'token' })

  test.each<[string, object]>([
    ['concurrency', { concurrency: 0 }],
    ['concurrency', { concurrency: 1.5 }],
    ['timeoutMs', { timeoutMs: -1 }],
    ['maxOutageMs', { maxOutageMs: -1 }],
    ['maxOutageMs', { maxOutageMs: Number.POSITIVE_INFINITY }],
    ['onProgress', { onProgress: {} }],
    ['speed', { speed: 9 }],
  ])('%s is refused in %o', (option, options) => {
    const create = () => createPlants(client, [], options)
    expect(create).toThrow(expect.objectContaining({ code: 'invalid_option', option }))
  })

  test.each([undefined, null, 5, {}, 'abc'])('%o is refused as a source', (source) => {
    expect(() => createPlants(client, source as never)).toThrow('source must be iterable')
  })

  test('a signal gets no listener of a bulk whose source cannot be opened', async () => {
    const { signal } = new AbortController()
    const source = new ReadableStream<Fern>()
    source.getReader()
    const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1', token: 't' })
    await expect(createPlants(client, source, { signal }).next()).rejects.toThrow(/locked/)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('a signal gets no listener', () => {
    const { signal } = new AbortController()
    createPlants(client, [], { signal })
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})
