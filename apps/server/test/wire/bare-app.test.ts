import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Express } from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import type { RequestObserver } from '../../src/http/locals.ts'
import { createNodeServer } from '../../src/http/node-server.ts'
import { createBareApp, respondWithError } from '../../src/http/pipeline.ts'
import { FailureLog } from '../../src/http/request-log.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { openConnection } from './raw-socket.ts'
import { chunk, LAST_CHUNK, postChunks } from './request.ts'

/** A caller of a server whose app has these routes and no others. */
async function openCaller(
  addRoutes: (app: Express) => void,
  { idleMs = 0, observer }: { idleMs?: number; observer?: RequestObserver } = {},
) {
  const config = loadConfig({}, [], {})
  const log = createLog('silent')
  const options = {
    ...config,
    log,
    failures: new FailureLog(log),
    observer,
    isDraining: () => false,
  }
  const app = createBareApp()
  addRoutes(app)
  app.use(respondWithError(options))
  const server = createNodeServer({ app, checks: [] }, config, options)
  server.timeout = idleMs
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const caller = await openConnection((server.address() as AddressInfo).port)
  onTestFinished(() => {
    caller.destroy()
    server.close()
  })
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

test('an error that cannot even be noted ends the connection without a word', async () => {
  const fail = () => {
    throw new Error('a secret of ours')
  }
  const caller = await openCaller((app) => app.use(fail), { observer: { answered: fail } })
  caller.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(String(await caller.readToEnd())).toBe('')
})
