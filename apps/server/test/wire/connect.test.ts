import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { FailureLog } from '../../src/http/failure-log.ts'
import { createListener } from '../../src/http/listener.ts'
import { createBareApp } from '../../src/http/pipeline.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { openConnection } from './raw-socket.ts'

test('a connection that stays idle after CONNECT is closed as any other', async () => {
  const config = loadConfig({}, [], {})
  const log = createLog('silent')
  const options = { ...config, log, failures: new FailureLog(log), isDraining: () => false }
  const app = createBareApp()
  app.get('/never', () => {})
  const server = createListener(app, config, options)
  server.timeout = 200
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const caller = await openConnection((server.address() as AddressInfo).port)
  caller.send('GET /never HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(String(await caller.readToEnd())).toBe('')
})
