import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Express } from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../../../../test/listen.ts'
import { createAuthenticate } from '../../src/auth/token-cache.ts'
import { loadConfig } from '../../src/config/config.ts'
import { openStore } from '../../src/engines.ts'
import { createNodeServer } from '../../src/http/node-server.ts'
import { createBareApp, respondWithError } from '../../src/http/pipeline.ts'
import { FailureLog } from '../../src/http/request-log.ts'
import { startServer } from '../../src/http/server.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { makeSqliteFile } from './database-under-test.ts'
import { tokenRecord } from './harness.ts'
import { openConnection } from './raw-socket.ts'
import { chunk, LAST_CHUNK, plantText, post, postChunks, request } from './request.ts'

// In this process, so that a test can reach into the server.

const log = createLog('silent')

/** A caller of a server whose app has these routes and no others. */
async function openCaller(addRoutes: (app: Express) => void, { idleMs = 0 } = {}) {
  const config = loadConfig({}, {})
  const failures = new FailureLog(log)
  const options = { ...config, log, failures, shutdown: { hasBegun: false } }
  const app = createBareApp()
  addRoutes(app)
  app.use(respondWithError(options))
  const server = createNodeServer({ app, checks: [] }, config, options)
  server.timeout = idleMs
  const caller = await openConnection(await listen(server))
  onTestFinished(() => caller.destroy())
  return caller
}

test('of a body that nobody reads yet hardly anything is parsed, and all of it once it is read', async () => {
  const parts = 20_000
  const asked = Promise.withResolvers<IncomingMessage>()
  // As while the database is asked for a token.
  const caller = await openCaller((app) => app.use((request) => asked.resolve(request)))
  caller.send(postChunks(chunk(' ').repeat(parts) + LAST_CHUNK))
  const request = await asked.promise
  // Nothing shows that the server would parse more.
  await sleep(500)
  expect(request.readableLength).toBeGreaterThan(0)
  expect(request.readableLength).toBeLessThan(2_000)
  let read = 0
  for await (const part of request) read += part.length
  expect(read).toBe(parts)
})

test('a connection that stays idle after CONNECT is closed as any other', async () => {
  const caller = await openCaller((app) => app.get('/never', () => {}), { idleMs: 200 })
  caller.send('GET /never HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(String(await caller.readToEnd())).toBe('')
})

test('an error in the middle of a response cuts it off', async () => {
  const caller = await openCaller((app) =>
    app.get('/half', async (_request, response) => {
      response.writeHead(200, ['content-length', '9']).write('half')
      await sleep(50)
      throw new Error('a secret of ours')
    }),
  )
  caller.send('GET /half HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(String(await caller.readToEnd())).toMatch(/\r\n\r\nhalf$/)
})

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

test.each<[claim: string, ...sent: Buffer[]]>([
  ['a plant', post(plantText(1))],
  ['what is no JSON', post('{')],
  ['another path', request({ line: 'POST / HTTP/1.1' })],
  ['a wrong credential', request({ authorization: 'Bearer x' })],
  ['two plants at once', post(plantText(1)), post(plantText(2))],
])('a connection that waits after %s holds nothing of the request', async (_claim, ...sent) => {
  const database = await makeSqliteFile()
  await database.withStore(({ tokens }) => tokens.add(tokenRecord()))
  const places = { databaseUrl: database.url, listen: '127.0.0.1:0', operationsListen: 'off' }
  const config = loadConfig(places, {})
  const store = await openStore(config)
  const authenticate = createAuthenticate(store.tokens)
  const server = await startServer(config, store, { authenticate, log })
  const requests: WeakRef<IncomingMessage>[] = []
  const onRequest = (message: unknown) =>
    void requests.push(new WeakRef((message as { request: IncomingMessage }).request))
  subscribe('http.server.request.start', onRequest)
  const caller = await openConnection(Number(new URL(server.url).port))
  onTestFinished(async () => {
    unsubscribe('http.server.request.start', onRequest)
    caller.destroy()
    await server.close()
    await store.close()
    await database.close()
  })
  caller.send(Buffer.concat(sent))
  for (const _ of sent) await caller.readReply()
  expect(requests).toHaveLength(sent.length)
  const held = () => {
    collectGarbage()
    return requests.filter((one) => one.deref() !== undefined).length
  }
  await expect.poll(held, { timeout: 10_000 }).toBe(0)
})
