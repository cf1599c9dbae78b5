import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPlantStoreClient } from '../src/index.ts'
import { watchSends } from '../src/sends.ts'
import { FERN } from './fakes.ts'

/** Gives the requests for a path the statuses in it in turn, the last for ever. */
const counts = new Map<string, number>()
const server = createServer(({ url = '' }, response) => {
  const statuses = url.match(/\d+/g) ?? []
  const count = counts.get(url) ?? 0
  counts.set(url, count + 1)
  const status = Number(statuses[Math.min(count, statuses.length - 1)])
  response.statusCode = status
  response.end(JSON.stringify({ error: status * 100, message: '' }))
})
let origin = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

async function post(url: string, id: string): Promise<void> {
  const headers = { 'x-request-id': id, 'content-type': 'application/json' }
  await fetch(url, { method: 'POST', body: '{}', headers }).then((response) => response.text())
}

describe("of Node's own fetch", () => {
  test.each([
    ['one request', 503, 1],
    ['a request that is sent again after a 421', 421, 2],
  ])('%s is seen, and its status', async (_what, status, count) => {
    const sends = watchSends(fetch, `seen-${status}`, origin)
    await post(`${origin}/${status}`, `seen-${status}`)
    expect([sends.atMost(), sends.status()]).toEqual([count, status])
    sends.close()
  })

  test('a request that finds no connection is seen not to be sent', async () => {
    const sends = watchSends(fetch, 'refused', origin)
    await expect(post('http://127.0.0.1:1024', 'refused')).rejects.toThrow('fetch failed')
    expect([sends.atMost(), sends.status()]).toEqual([0, undefined])
  })

  test('the requests of others are not counted, nor those after the end', async () => {
    const sends = watchSends(fetch, 'own', origin)
    await post(`${origin}/200`, 'other')
    expect(sends.atMost()).toBeNaN()
    sends.close()
    await post(`${origin}/200`, 'own')
    expect(sends.atMost()).toBeNaN()
  })

  test('two calls under one id at the same time prove nothing', async () => {
    const both = [watchSends(fetch, 'shared', origin), watchSends(fetch, 'shared', origin)]
    await post(`${origin}/200`, 'shared')
    expect(both.map((sends) => sends.atMost())).toEqual([Number.NaN, Number.NaN])
    for (const sends of both) sends.close()
    const next = watchSends(fetch, 'shared', origin)
    await post(`${origin}/200`, 'shared')
    expect(next.atMost()).toBe(1)
  })

  test('a dispatcher that is not of undici proves nothing', async () => {
    await post(`${origin}/200`, 'any')
    const names = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`))
    const globals = globalThis as unknown as Record<symbol, unknown>
    const originals = names.map((name) => globals[name])
    const dispatch = (_options: unknown, handler: { onError(error: Error): void }) => {
      handler.onError(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
    }
    const sends = watchSends(fetch, 'foreign', origin)
    for (const name of names) globals[name] = { dispatch }
    try {
      await expect(post(`${origin}/200`, 'foreign')).rejects.toThrow('fetch failed')
    } finally {
      for (const [index, name] of names.entries()) globals[name] = originals[index]
    }
    expect([sends.atMost(), sends.isOnce]).toEqual([Number.NaN, false])
  })
})

const wrapped: typeof fetch = (...args) => fetch(...args)

test.each<[string, unknown]>([
  ['one that wraps the own', wrapped],
  ['one named as it', Object.defineProperty(wrapped.bind(null), 'name', { value: 'fetch' })],
  ['a proxy of the own', new Proxy(fetch, {})],
  ['the own, bound', fetch.bind(globalThis)],
  ['none', undefined],
])('of any other fetch nothing is known: %s', async (_what, given) => {
  const sends = watchSends(given, 'wrapped', origin)
  await post(`${origin}/503`, 'wrapped')
  expect(sends.atMost()).toBeNaN()
  sends.close()
})

test.each([
  ['one 503', '503', { applied: 'no', attempts: 1 }],
  ['a 503 after a 421 that fetch keeps to itself', '421-503', { applied: 'maybe', attempts: 2 }],
  ['a 407, which fetch keeps to itself', '407', { applied: 'maybe', attempts: 1, status: 407 }],
])('a call by the own fetch that meets %s', async (_what, path, facts) => {
  const options = { baseUrl: `${origin}/${path}`, token: 'token', maxRetries: 0 }
  const call = createPlantStoreClient(options).createPlant(FERN)
  await expect(call).rejects.toMatchObject(facts)
})
