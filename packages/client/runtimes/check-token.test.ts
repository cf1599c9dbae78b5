import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  createPlantStoreClient,
  type PlantStoreClientOptions,
  type PlantStoreEvent,
} from '../src/index.ts'
import { type RealServer, startRealServer } from './real-server.ts'

let server: RealServer

beforeAll(async () => {
  server = await startRealServer()
})

afterAll(async () => {
  expect((await server.endAndRead()).size).toBe(0)
})

function createClient(options: PlantStoreClientOptions = {}) {
  return createPlantStoreClient({ baseUrl: server.url, token: server.token, ...options })
}

/** A server that is no plant store; gives its address. */
async function serve(listener: RequestListener): Promise<string> {
  const other = createServer(listener)
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => {
    other.closeAllConnections()
    other.close()
  })
  return `http://127.0.0.1:${(other.address() as AddressInfo).port}`
}

test('a token that the server takes is checked in one request, and no failure is reported', async () => {
  const events: PlantStoreEvent[] = []
  const client = createClient({ onEvent: (event) => events.push(event) })
  expect(await client.checkToken({ requestId: 'check-1' })).toBeUndefined()
  expect(events).toMatchObject([
    { type: 'request', requestId: 'check-1' },
    { type: 'response', status: 400 },
  ])
})

test('a token that the server does not know is refused', async () => {
  // The last characters are its checksum, so the server takes it for a mistake in typing.
  for (const token of [`${server.token.slice(0, -1)}_`, 'plant_of_nobody']) {
    await expect(createClient({ token }).checkToken()).rejects.toMatchObject({
      code: 'unauthorized',
      applied: 'no',
      attempts: 1,
    })
  }
})

test('a function gives another token where the first is refused', async () => {
  const given: boolean[] = []
  const client = createClient({
    token: ({ refresh }) => {
      given.push(refresh)
      return refresh ? server.token : 'plant_of_nobody'
    },
  })
  await client.checkToken()
  expect(given).toEqual([false, true])
})

test('without a server it is retried, and nothing is stored for certain', async () => {
  const url = await serve((request) => request.socket.destroy())
  const failure = createClient({ baseUrl: url, maxRetries: 1 }).checkToken()
  await expect(failure).rejects.toMatchObject({
    code: 'connection_lost',
    applied: 'no',
    attempts: 2,
  })
})

test.each<[string, RequestListener, string]>([
  [
    'repeats the request',
    (request, response) => {
      response.setHeader('content-type', 'application/json')
      response.setHeader('x-request-id', request.headers['x-request-id'] ?? '')
      request.pipe(response)
    },
    'unexpected_response',
  ],
  [
    'says 200 with a plant',
    (_, response) => response.end('{"name":"Fern"}'),
    'unexpected_response',
  ],
  [
    'refuses something else',
    (_, response) => response.writeHead(400).end('{"error":40000,"message":"odd"}'),
    'rejected',
  ],
  [
    'refuses it with a status that is not that of its number',
    (_, response) => response.writeHead(422).end('{"error":40002,"message":"no plant"}'),
    'invalid_plant',
  ],
  ['is a page', (_, response) => response.writeHead(404).end('<p>'), 'unexpected_response'],
])('a server that %s has not taken the token', async (_what, listener, code) => {
  const client = createClient({ baseUrl: await serve(listener) })
  await expect(client.checkToken()).rejects.toMatchObject({ code, applied: 'no', attempts: 1 })
})

test('an option that cannot work is refused as elsewhere', async () => {
  await expect(createClient().checkToken({ timeoutMs: 0 })).rejects.toMatchObject({
    code: 'invalid_option',
    option: 'timeoutMs',
  })
})
