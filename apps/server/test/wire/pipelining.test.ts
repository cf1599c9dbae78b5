import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { ExpectedPlant, ExpectedReply } from './expectations.ts'
import { expectReply } from './expectations.ts'
import { useWireServer } from './harness.ts'
import { chunk, LAST_CHUNK, plantOf, plantText, post, postChunks, request } from './request.ts'

const server = useWireServer()

const stored: ExpectedPlant = { plant: { name: plantOf(1).name } }
const malformed: ExpectedReply = { error: 'malformed_request' }

const one = post(plantText(1))
const two = post(plantText(2))

test('requests of several connections at once, cut anywhere, stay apart', async () => {
  const CONNECTIONS = 6
  const REQUESTS = 40
  const nameOf = (connection: number, index: number) => `plant ${index} of caller ${connection}`
  const indexes = Array.from({ length: REQUESTS }, (_, index) => index)
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, connection) => {
      const caller = await server.open()
      const bodyOf = (index: number) =>
        `{"id":${connection * REQUESTS + index},"name":"${nameOf(connection, index)}"}`
      const bytes = Buffer.concat(indexes.map((index) => post(bodyOf(index))))
      const step = 700 + 311 * connection
      for (let start = 0; start < bytes.length; start += step) {
        caller.send(bytes.subarray(start, start + step))
        await sleep(1)
      }
      for (const index of indexes) {
        expectReply(await caller.readReply(), { plant: { name: nameOf(connection, index) } })
      }
    }),
  )
})

describe('requests in one packet are answered in their order:', () => {
  test('50 good ones', () => {
    const ids = Array.from({ length: 50 }, (_, index) => index)
    return server.check({
      sent: Buffer.concat(ids.map((id) => post(plantText(id)))),
      replies: ids.map(() => stored),
      stored: ids.map(plantOf),
    })
  })

  test.each<[claim: string, middle: Buffer, reply: ExpectedReply]>([
    ['no JSON', post('{'), { error: 'malformed_json' }],
    ['no plant', post('{}'), { error: 'invalid_plant' }],
    ['an id that is taken', post('{"id":1,"name":"Moss"}'), { error: 'id_taken' }],
    ['no credential', request({ authorization: null }), { error: 'missing_credentials' }],
    [
      'no credential and chunks',
      postChunks(chunk('{}') + LAST_CHUNK, { authorization: null }),
      { error: 'missing_credentials' },
    ],
    ['a wrong credential', request({ authorization: 'Bearer x' }), { error: 'invalid_token' }],
    ['another path', request({ line: 'POST / HTTP/1.1' }), { error: 'not_found' }],
    ['another method', request({ line: 'PUT /plants HTTP/1.1' }), { error: 'method_not_allowed' }],
    [
      'another media type',
      request({ contentType: 'text/plain' }),
      { error: 'unsupported_media_type', headers: { accept: 'application/json' } },
    ],
  ])('a good one, one with %s, a good one', (_claim, middle, reply) =>
    server.check({
      sent: Buffer.concat([one, middle, two]),
      replies: [stored, reply, stored],
      stored: [plantOf(1), plantOf(2)],
    }),
  )

  test('a refused one with a long body, then a good one', () =>
    server.check({
      sent: Buffer.concat([post('x'.repeat(60_000), { authorization: null }), two]),
      replies: [{ error: 'missing_credentials' }, stored],
      stored: [plantOf(2)],
    }))

  test('a good one behind the rest of a body, of any length, that was refused before', async () => {
    const refused = post('x'.repeat(4_000), { contentType: 'text/plain' })
    const { length } = refused
    let isRepeat = false
    // Wherever a part of what the server reads ends.
    for (let rest = 1_700; rest < 2_100; rest += 10) {
      const caller = await server.open()
      caller.send(refused.subarray(0, length - rest))
      expectReply(await caller.readReply(), {
        error: 'unsupported_media_type',
        headers: { accept: 'application/json' },
      })
      caller.send(Buffer.concat([refused.subarray(length - rest), one]))
      expectReply(await caller.readReply(), { ...stored, isRepeat })
      isRepeat = true
    }
  })

  test('a good one with chunks, then a good one', () =>
    server.check({
      sent: Buffer.concat([postChunks(chunk(plantText(1)) + LAST_CHUNK), two]),
      replies: [stored, stored],
      stored: [plantOf(1), plantOf(2)],
    }))
})

describe('a good request keeps its 200 when what follows it is', () => {
  test.each<[claim: string, bytes: string | Buffer]>([
    ['garbage', '\0\x01garbage\r\n\r\n'],
    ['text', 'garbage'],
    ['an unknown method', request({ line: 'FOO /plants HTTP/1.1' })],
    ['another version', request({ line: 'POST /plants HTTP/2.0' })],
    ['a request with two Hosts', request({ more: ['Host: other.test'] })],
    ['a request without a Host', request({ host: null })],
    ['a request with two lengths', request({ more: ['Content-Length: 3'] })],
    ['a request with a broken header', request({ more: ['X : a'] })],
    ['CONNECT', 'CONNECT plants.test:443 HTTP/1.1\r\nHost: plants.test\r\n\r\n'],
    ['a TLS hello', Buffer.from('16030100b8010000b40303', 'hex')],
  ])('%s', (_claim, bytes) =>
    server.check({
      sent: Buffer.concat([one, two, Buffer.from(bytes)]),
      replies: [stored, stored, malformed],
      stored: [plantOf(1), plantOf(2)],
      connection: 'closed',
    }),
  )

  test('a broken chunk', () =>
    server.check({
      sent: Buffer.concat([one, postChunks('zz\r\n')]),
      replies: [stored, malformed],
      stored: [plantOf(1)],
      connection: 'lingering',
    }))

  test('headers that are too large', () =>
    server.check({
      sent: Buffer.concat([one, request({ more: [`X: ${'a'.repeat(20_000)}`] })]),
      replies: [stored, { error: 'headers_too_large' }],
      stored: [plantOf(1)],
      connection: 'closed',
    }))

  test('garbage that comes while its commit runs', async () => {
    const caller = await server.open()
    const release = await server.database.holdCommits()
    caller.send(one)
    caller.send('garbage')
    release()
    expectReply(await caller.readReply(), stored)
    expectReply(await caller.readReply(), malformed)
    await caller.readToEnd()
    await server.expectStoredAndServing([plantOf(1)])
  })
})

test('a reset after CONNECT, while a commit runs, ends nothing but its connection', async () => {
  // Now it knows the token, and goes on to the commit in the turn in which it reads a create.
  await server.expectStoredAndServing([])
  const caller = await server.open()
  const release = await server.database.holdCommits()
  caller.send(one)
  caller.send('CONNECT plants.test:443 HTTP/1.1\r\nHost: plants.test\r\n\r\n')
  await server.quiesce()
  // On a busy machine what it knows may be too old by now; nothing shows that its commit has begun.
  await sleep(100)
  caller.reset()
  await server.quiesce()
  release()
  // Nobody is notified, and another commit may overtake it.
  await expect.poll(() => server.database.readPlants()).toContainEqual(plantOf(1))
  await server.expectStoredAndServing([plantOf(1)])
})

test('a plant between a refused request and a broken one is stored, and all three are answered', () =>
  server.check({
    sent: Buffer.concat([request({ authorization: 'Bearer x' }), one, postChunks('zz\r\n')]),
    replies: [{ error: 'invalid_token' }, stored, malformed],
    stored: [plantOf(1)],
    connection: 'closed',
  }))

// RFC 9112 §9.6: after a reply that closes the connection no further request is processed.
describe('what follows a request that ends the connection is neither answered nor stored, after', () => {
  test.each<[claim: string, bytes: Buffer, reply: ExpectedReply]>([
    ['two Hosts', request({ more: ['Host: other.test'] }), malformed],
    ['no Host', request({ host: null }), malformed],
    ['another version', request({ line: 'POST /plants HTTP/2.0' }), malformed],
    ['a fragment', request({ line: 'POST /plants#f HTTP/1.1' }), malformed],
    ['a broken header', request({ more: ['X : a'] }), malformed],
    ['garbage', Buffer.from('garbage\r\n\r\n'), malformed],
    ['201 header lines', request({ more: Array(201).fill('a:') }), { error: 'headers_too_large' }],
    ['another expectation', request({ more: ['Expect: x'] }), { error: 'expectation_failed' }],
    ['a long body', post('x'.repeat(70_000)), { error: 'body_too_large' }],
    [
      'a long body in chunks',
      postChunks(chunk('x'.repeat(70_000)) + LAST_CHUNK),
      { error: 'body_too_large' },
    ],
  ])('%s', (_claim, bytes, reply) =>
    server.check({
      sent: Buffer.concat([bytes, two]),
      replies: [reply],
      connection: 'closed',
    }),
  )

  test('"Connection: close"', () =>
    server.check({
      sent: Buffer.concat([request({ more: ['Connection: close'] }), two]),
      replies: [stored],
      stored: [plantOf(1)],
      connection: 'closed',
    }))

  test('HTTP/1.0', () =>
    server.check({
      sent: Buffer.concat([request({ line: 'POST /plants HTTP/1.0' }), two]),
      replies: [stored],
      stored: [plantOf(1)],
      connection: 'closed',
    }))
})

test('a request may come byte by byte', async () => {
  const caller = await server.open()
  for (const byte of one) caller.send(Uint8Array.of(byte))
  expectReply(await caller.readReply(), stored)
  await server.expectStoredAndServing([plantOf(1)])
})
