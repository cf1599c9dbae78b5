import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { FailureLog } from '../../src/http/failure-log.ts'
import { createListener } from '../../src/http/listener.ts'
import { createBareApp } from '../../src/http/pipeline.ts'
import type { RequestObserver } from '../../src/http/request-observer.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { expectReply } from './expectations.ts'
import { type Connection, openConnection } from './raw-socket.ts'

const logLines: string[] = []

/** A caller of an app that has no layer for what it throws or does not know. */
async function openUnguarded(observer?: RequestObserver): Promise<Connection> {
  const config = loadConfig({}, [], {})
  const log = createLog('trace', { write: (line) => void logLines.push(line) })
  const failures = new FailureLog(log)
  const options = { ...config, log, failures, observer, isDraining: () => false }
  const app = createBareApp()
  app.get('/throws', () => {
    throw new Error('a secret of ours')
  })
  app.get('/half', (_request, response) => {
    response.writeHead(200, ['content-length', '9']).write('half')
    throw new Error('a secret of ours')
  })
  const server = createListener(app, config, options).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const caller = await openConnection((server.address() as AddressInfo).port)
  onTestFinished(() => {
    caller.destroy()
    server.close()
  })
  return caller
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

test.each(['/throws', '/unknown'])('%s gets an Error body', async (path) => {
  const caller = await openUnguarded()
  caller.send(get(path))
  expectReply(await caller.readReply(), { error: 'outcome_unknown' })
  await caller.readToEnd()
  expect(JSON.parse(logLines.at(-1) ?? '')).toMatchObject({ error: 'outcome_unknown', path })
})

test('an error that cannot even be noted gets an Error body', async () => {
  const caller = await openUnguarded({
    answered() {
      throw new Error('a secret of ours')
    },
  })
  caller.send(get('/throws'))
  expectReply(await caller.readReply(), { error: 'outcome_unknown' })
  await caller.readToEnd()
})

test('an error in the middle of a reply cuts it off', async () => {
  const caller = await openUnguarded()
  caller.send(get('/half'))
  expect(String(await caller.readToEnd())).toMatch(/\r\n\r\nhalf$/)
})
