import { beforeAll, describe, expect, test } from 'vitest'
import { expectReply, headerOf } from './expectations.ts'
import { useWireServer } from './harness.ts'
import { type Connection, openConnection } from './raw-socket.ts'
import { chunk, plantOf, plantText, post, postChunks, request } from './request.ts'

const timedOut = { error: 'request_timeout', message: /in time/ } as const
const stored = { plant: { name: plantOf(1).name } }

const whole = request()
const headLength = whole.indexOf('\r\n\r\n') + 4

describe('what does not arrive in time is answered 408, stores nothing and is closed:', () => {
  const server = useWireServer({ requestTimeoutMs: '200' })

  const unfinished: readonly (readonly [claim: string, bytes: string | Buffer])[] = [
    ['nothing at all', ''],
    ['one byte', 'P'],
    ['a request line', 'POST /plants HTTP/1.1\r\n'],
    ['headers without their end', whole.subarray(0, headLength - 2)],
    ['headers and no body', whole.subarray(0, headLength)],
    ['a body but for its last byte', whole.subarray(0, -1)],
    ['a whole plant, but a longer length', request({ framing: 'Content-Length: 50' })],
    ['chunks without the last one', postChunks(chunk(plantText(1)))],
    ['half a chunk', postChunks(chunk(plantText(1)).slice(0, 20))],
  ]

  const callers = new Map<string, Connection>()

  // Overdue requests are looked for twice a second: all of them wait for that at the same time.
  beforeAll(async () => {
    for (const [claim, bytes] of unfinished) {
      const caller = await openConnection(server.port)
      caller.send(bytes)
      callers.set(claim, caller)
    }
  })

  test.each(unfinished)('%s', async (claim) => {
    const caller = callers.get(claim) ?? (await server.open())
    const response = await caller.readReply()
    expectReply(response, timedOut)
    expect(headerOf(response, 'connection')).toBe('close')
    expect(String(await caller.readToEnd())).toBe('')
    await server.expectStoredAndServing([])
  })

  test('a body that comes byte by byte', async () => {
    const caller = await server.open()
    caller.send(request({ framing: 'Content-Length: 500' }))
    const drip = setInterval(() => caller.send(' '), 20)
    expectReply(await caller.readReply(), timedOut)
    clearInterval(drip)
    await server.expectStoredAndServing([])
  })

  test('a second request after a good one', () =>
    server.check({
      sent: Buffer.concat([whole, post(plantText(2)).subarray(0, 60)]),
      replies: [stored, timedOut],
      stored: [plantOf(1)],
    }))

  test('100 connections in the middle of their headers, while others are served', async () => {
    const slow = await Promise.all(Array.from({ length: 100 }, () => server.open()))
    for (const caller of slow) caller.send(whole.subarray(0, 60))
    await server.expectStoredAndServing([])
    for (const caller of slow) {
      expectReply(await caller.readReply(), timedOut)
      expect(String(await caller.readToEnd())).toBe('')
    }
    await server.expectStoredAndServing([])
  })
})

describe('an idle connection', () => {
  const server = useWireServer({ keepAliveTimeoutMs: '100' })

  test('is closed without a word', async () => {
    const caller = await server.open()
    caller.send(whole)
    expectReply(await caller.readReply(), stored)
    expect(String(await caller.readToEnd())).toBe('')
    await server.expectStoredAndServing([plantOf(1)])
  })
})
