import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/opaque-token.ts'
import { get } from '../docs/get.ts'
import { expectReply, headerOf } from '../wire/expectations.ts'
import { useWireServer, type WireServer } from '../wire/harness.ts'
import { openConnection, type Reply } from '../wire/raw-socket.ts'
import { plantOf, plantText, post, request, token } from '../wire/request.ts'
import { startInProcess } from '../wire/start-in-process.ts'
import { holdClock } from './hold-clock.ts'

const missing = { error: 'missing_credentials' } as const
const tooMany = { error: 'too_many_requests', message: /no valid token/ } as const
const stored = { plant: { name: plantOf(1).name } }

const stranger = request({ authorization: null })
const wrong = request({ authorization: `Bearer ${createOpaqueToken().text}` })

async function replyTo(server: WireServer, sent: Buffer, hasBody = true): Promise<Reply> {
  const caller = await server.open()
  caller.send(sent)
  return caller.readReply({ hasBody })
}

/** Asks without a token until the limit acts, and gives how often that was answered 401. */
async function pass(server: WireServer): Promise<number> {
  const caller = await openConnection(server.port)
  for (let asked = 0; asked < 1_000; asked++) {
    caller.send(stranger)
    const reply = await caller.readReply()
    if (reply.status === 429) {
      caller.destroy()
      return asked
    }
    expect(reply.status).toBe(401)
  }
  throw new Error('the limit does not act')
}

describe('by default, requests without a token from one address', () => {
  const server = useWireServer({}, { start: startInProcess })

  test('are refused with 401 sixty times in a minute, then with 429 and Retry-After', async () => {
    holdClock()
    expectReply(await replyTo(server, stranger), missing)
    expect(await pass(server)).toBe(59)
    const reply = await replyTo(server, stranger)
    expectReply(reply, tooMany)
    expect(headerOf(reply, 'retry-after')).toBe('1')
    expect(headerOf(reply, 'connection')).toBe('keep-alive')
    expect(await server.database.readPlants()).toEqual([])
  })

  test.each([
    ['another scheme', request({ authorization: 'Basic eDp5' })],
    ['two tokens', request({ more: [`Authorization: Bearer ${token.text}`] })],
    ['a wrong token', wrong],
    ['another path', get('/nothing')],
    ['a token in the query', get(`/plants?access_token=${token.text}`)],
  ])('count together with those that show %s', async (_claim, sent) => {
    holdClock()
    await pass(server)
    expectReply(await replyTo(server, sent), tooMany)
  })

  test('leave good callers of that address alone', async () => {
    holdClock()
    await server.expectStoredAndServing([])
    await pass(server)
    await server.refuses(stranger, tooMany)
  })

  test('do not count where they read what everybody may, and are let read on', async () => {
    holdClock()
    const before = await server.open()
    for (let count = 0; count < 100; count++) {
      before.send(get('/openapi.json'))
      expect((await before.readReply()).status).toBe(200)
    }
    await pass(server)
    for (const path of ['/openapi.json', '/openapi.yaml?x', '/docs']) {
      expect((await replyTo(server, get(path))).status).toBe(200)
    }
  })

  test('that break the rules of HTTP are still told so and closed', async () => {
    holdClock()
    await pass(server)
    const sent = request({ authorization: null, more: ['Host: other.test'] })
    await server.refuses(sent, { error: 'malformed_request' }, 'closed')
  })

  test('with a body that is not worth waiting for are closed', async () => {
    holdClock()
    await pass(server)
    const sent = request({ authorization: null, framing: 'Content-Length: 70000', body: '' })
    await server.refuses(sent, tooMany, 'lingering')
  })

  test('are answered in their turn among pipelined ones', async () => {
    holdClock()
    await pass(server)
    await server.check({
      sent: Buffer.concat([post(plantText(1)), stranger, wrong, post(plantText(2))]),
      replies: [stored, tooMany, tooMany, stored],
      stored: [plantOf(1), plantOf(2)],
    })
  })
})

describe('callers over the limit', () => {
  const server = useWireServer(
    { failedCredentialLimit: '1', requestLimit: '1', docs: 'off' },
    { start: startInProcess },
  )

  test('are not in flight, and take no place from a good one', async () => {
    holdClock()
    await server.expectStoredAndServing([])
    await pass(server)
    const release = await server.database.holdCommits()
    const good = await server.open()
    good.send(post(plantText(1)))
    // With one request in flight any other is answered 503.
    await expect.poll(async () => (await replyTo(server, post(plantText(2)))).status).toBe(503)
    expectReply(await replyTo(server, stranger), tooMany)
    release()
    expectReply(await good.readReply(), stored)
  })

  test('find no public path where the document is off', async () => {
    holdClock()
    await pass(server)
    expectReply(await replyTo(server, get('/openapi.json')), tooMany)
  })
})

describe('pages of other origins over the limit', () => {
  const origin = 'https://plants.example'
  const server = useWireServer(
    { failedCredentialLimit: '1', corsOrigins: origin },
    { start: startInProcess },
  )

  test('are answered their preflights, and can read why they are refused', async () => {
    holdClock()
    await pass(server)
    const asks = ['Access-Control-Request-Method: POST']
    const preflight = { line: 'OPTIONS /plants HTTP/1.1', authorization: null, body: '' }
    const listed = request({ ...preflight, more: [`Origin: ${origin}`, ...asks] })
    for (let count = 0; count < 5; count++) {
      expect((await replyTo(server, listed, false)).status).toBe(204)
    }
    const sent = request({ authorization: null, more: [`Origin: ${origin}`] })
    const refused = await replyTo(server, sent)
    expect(refused.status).toBe(429)
    expect(headerOf(refused, 'access-control-allow-origin')).toBe(origin)
    const unlisted = request({ ...preflight, more: ['Origin: https://other.example', ...asks] })
    expect((await replyTo(server, unlisted)).status).toBe(429)
  })
})
