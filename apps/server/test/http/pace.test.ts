import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { trackConnections } from '../../src/http/close.ts'
import { keepPace } from '../../src/http/pace.ts'

test('a connection on which nothing moves for too long is ended, one that moves is not', async () => {
  const server = createServer(() => {})
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  trackConnections(server)
  // With the margin of 30 s that leaves one second.
  const log = pino({ level: 'silent' })
  keepPace(server, { minDataRateBytes: 1, longestMs: -29_000, onSlow: () => {}, log })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const open = async () => {
    const caller = connect((server.address() as AddressInfo).port, '127.0.0.1')
    await once(caller, 'connect')
    caller.write('POST / HTTP/1.1\r\nHost: plants.test\r\nContent-Length: 100\r\n\r\n')
    return caller
  }
  const moving = await open()
  const still = await open()
  still.resume()
  const drip = setInterval(() => moving.write(' '), 100)
  onTestFinished(() => clearInterval(drip))
  const began = performance.now()
  await once(still, 'close')
  expect(performance.now() - began).toBeGreaterThan(1_000)
  expect(moving.readyState).toBe('open')
})
