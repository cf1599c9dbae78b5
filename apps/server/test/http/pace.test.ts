import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../../../../test/listen.ts'
import { trackConnections } from '../../src/http/close.ts'
import { keepPace, type PaceOptions } from '../../src/http/pace.ts'

/** A server that keeps a pace; returns how to open a connection that has sent the head of a request. */
async function startServer(handle: RequestListener, options: Partial<PaceOptions>) {
  const server = createServer(handle)
  onTestFinished(() => server.closeAllConnections())
  trackConnections(server)
  const log = pino({ level: 'silent' })
  keepPace(server, { longestMs: 60_000, onSlow: () => {}, log, ...options })
  const port = await listen(server)
  return async () => {
    const caller = connect(port, '127.0.0.1').on('error', () => {})
    await once(caller, 'connect')
    caller.write('POST / HTTP/1.1\r\nHost: plants.test\r\nContent-Length: 100\r\n\r\n')
    return caller
  }
}

test('a connection on which nothing moves for too long is ended, one that moves is not', async () => {
  // With the margin of 30 s that leaves one second.
  const open = await startServer(() => {}, { minDataRateBytes: 1, longestMs: -29_000 })
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

test('a response that nobody reads is given up after the time of 16 KiB, one that is read slowly is not', async () => {
  const pieces = Array.from({ length: 1_024 }, () => Buffer.alloc(16_384))
  const bytes = pieces.length * 16_384
  let slow = 0
  const open = await startServer(
    (_request, response) => void Readable.from(pieces).pipe(response),
    {
      minDataRateBytes: 16_384,
      onSlow: () => slow++,
    },
  )
  const [unread, read] = [await open(), await open()]
  const began = performance.now()
  let received = 0
  for await (const chunk of read) {
    received += chunk.length
    if (received < bytes / 4) await sleep(20)
    if (received > bytes) break
  }
  // It learns of the end when it sends.
  const drip = setInterval(() => unread.write(' '), 50)
  onTestFinished(() => clearInterval(drip))
  await expect.poll(() => unread.destroyed, { timeout: 5_000, interval: 20 }).toBe(true)
  const tookMs = performance.now() - began
  expect(tookMs).toBeGreaterThan(1_000)
  expect(tookMs).toBeLessThan(4_000)
  expect(slow).toBe(1)
})
