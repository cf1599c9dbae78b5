import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { FailureLog } from '../../src/http/failure-log.ts'
import { createListener } from '../../src/http/listener.ts'
import { createBareApp } from '../../src/http/pipeline.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { openConnection } from './raw-socket.ts'
import { chunk, LAST_CHUNK, postChunks } from './request.ts'

const PARTS = 20_000

test('of a body that nobody reads yet hardly anything is parsed, and all of it once it is read', async () => {
  const log = createLog('silent')
  const failures = new FailureLog(log)
  const options = { ...loadConfig({}, [], {}), log, failures, isDraining: () => false }
  const app = createBareApp()
  const asked = Promise.withResolvers<IncomingMessage>()
  // As while the database is asked for a token.
  app.use((request) => asked.resolve(request))
  const server = createListener(app, options, options).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const caller = await openConnection((server.address() as AddressInfo).port)
  onTestFinished(() => {
    caller.destroy()
    server.close()
  })
  caller.send(postChunks(chunk(' ').repeat(PARTS) + LAST_CHUNK))
  const request = await asked.promise
  // Nothing shows that the server would parse more.
  await sleep(500)
  expect(request.readableLength).toBeGreaterThan(0)
  expect(request.readableLength).toBeLessThan(2_000)
  let read = 0
  for await (const part of request) read += part.length
  expect(read).toBe(PARTS)
})
