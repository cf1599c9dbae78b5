import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPlantStoreClient } from '../src/index.ts'
import { watchSends } from '../src/sends.ts'
import { FERN } from './fakes.ts'

/** Gives the status that the path names. */
const server = createServer(({ url }, response) => {
  response.writeHead(Number(url?.slice(1, 4))).end('{}')
})
let origin = ''

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

async function post(id: string): Promise<void> {
  const headers = { 'x-request-id': id, 'content-type': 'application/json' }
  const response = await fetch(`${origin}/200`, { method: 'POST', body: '{}', headers })
  await response.text()
}

describe("of Node's own fetch", () => {
  test('the requests of others are not counted, nor those after the end', async () => {
    const sends = watchSends(fetch, 'own', origin)
    await post('other')
    expect(sends.atMost()).toBeNaN()
    sends.close()
    await post('own')
    expect(sends.atMost()).toBeNaN()
  })

  test('two calls under one id at the same time prove nothing', async () => {
    const both = [watchSends(fetch, 'shared', origin), watchSends(fetch, 'shared', origin)]
    await post('shared')
    expect(both.map((sends) => sends.atMost())).toEqual([Number.NaN, Number.NaN])
    for (const sends of both) sends.close()
    const next = watchSends(fetch, 'shared', origin)
    await post('shared')
    expect([next.atMost(), next.status()]).toEqual([1, 200])
  })

  test('a dispatcher that is not of undici proves nothing', async () => {
    await post('any')
    const names = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`))
    const globals = globalThis as unknown as Record<symbol, unknown>
    const originals = names.map((name) => globals[name])
    const dispatch = (_options: unknown, handler: { onError(error: Error): void }) => {
      handler.onError(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
    }
    const sends = watchSends(fetch, 'foreign', origin)
    for (const name of names) globals[name] = { dispatch }
    try {
      await expect(post('foreign')).rejects.toThrow('fetch failed')
    } finally {
      for (const [index, name] of names.entries()) globals[name] = originals[index]
    }
    expect([sends.atMost(), sends.isOnce]).toEqual([Number.NaN, false])
  })

  test('a 407, which it keeps to itself, is seen', async () => {
    const options = { baseUrl: `${origin}/407`, token: 'token', maxRetries: 0 }
    const call = createPlantStoreClient(options).createPlant(FERN)
    await expect(call).rejects.toMatchObject({ applied: 'maybe', attempts: 1, status: 407 })
  })
})

const wrapped: typeof fetch = (...args) => fetch(...args)

test.each<[string, typeof fetch]>([
  ['one that wraps the own', wrapped],
  ['one named as it', Object.defineProperty(wrapped.bind(null), 'name', { value: 'fetch' })],
  ['a proxy of the own', new Proxy(fetch, {})],
  ['the own, bound', fetch.bind(globalThis)],
])('of any other fetch nothing is known: %s', async (_what, given) => {
  const sends = watchSends(given, 'wrapped', origin)
  await post('wrapped')
  expect(sends.atMost()).toBeNaN()
  sends.close()
})
