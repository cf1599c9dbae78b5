import { describe, test } from 'vitest'
import {
  type ExpectedReply,
  expectReply,
  malformed,
  missing,
  stored,
  wantsJson,
  wrongMethod,
} from './expectations.ts'
import { useWireServer } from './harness.ts'
import { inChunk, plantOf, plantText, post, postChunks, request, withLines } from './request.ts'

const server = useWireServer()

const one = post(plantText(1))
const two = post(plantText(2))
const wrong = request({ authorization: 'Bearer x' })
const http2 = request({ line: 'POST /plants HTTP/2.0' })
const http10 = request({ line: 'POST /plants HTTP/1.0' })
const putting = request({ line: 'PUT /plants HTTP/1.1' })
const long = 'x'.repeat(70_000)
const tunnel = 'CONNECT plants.test:443 HTTP/1.1\r\nHost: plants.test\r\n\r\n'
const unauthorized = postChunks(inChunk('{}'), { authorization: null })

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
    ['no credential', request({ authorization: null }), missing],
    ['no credential and chunks', unauthorized, missing],
    ['no credential and a long body', post('x'.repeat(60_000), { authorization: null }), missing],
    ['a wrong credential', wrong, { error: 'invalid_token' }],
    ['another path', request({ line: 'POST / HTTP/1.1' }), { error: 'not_found' }],
    ['another method', putting, wrongMethod],
    ['another media type', request({ contentType: 'text/plain' }), wantsJson],
    ['chunks', postChunks(inChunk(plantText(1))), { ...stored, isRepeat: true }],
  ])('a good one, one with %s, a good one', (_claim, middle, reply) =>
    server.check({
      sent: Buffer.concat([one, middle, two]),
      replies: [stored, reply, stored],
      stored: [plantOf(1), plantOf(2)],
    }),
  )

  test('a good one behind the rest of a body, of any length, that was refused before', async () => {
    const refused = post('x'.repeat(4_000), { contentType: 'text/plain' })
    const { length } = refused
    let isRepeat = false
    // Wherever a part of what the server reads ends.
    for (let rest = 1_700; rest < 2_100; rest += 10) {
      const caller = await server.open()
      caller.send(refused.subarray(0, length - rest))
      expectReply(await caller.readReply(), wantsJson)
      caller.send(Buffer.concat([refused.subarray(length - rest), one]))
      expectReply(await caller.readReply(), { ...stored, isRepeat })
      isRepeat = true
    }
  })
})

describe('a good request keeps its 200 when what follows it is', () => {
  test.each<[claim: string, bytes: string | Buffer, error?: ExpectedReply]>([
    ['garbage', '\0\x01garbage\r\n\r\n'],
    ['text', 'garbage'],
    ['an unknown method', request({ line: 'FOO /plants HTTP/1.1' })],
    ['another version', http2],
    ['a request with two Hosts', withLines('Host: other.test')],
    ['a request without a Host', request({ host: null })],
    ['a request with two lengths', withLines('Content-Length: 3')],
    ['a request with a broken header', withLines('X : a')],
    ['a broken chunk', postChunks('zz\r\n')],
    ['CONNECT', tunnel],
    ['a TLS hello', Buffer.from('16030100b8010000b40303', 'hex')],
    ['headers that are too large', withLines(`X: ${long}`), { error: 'headers_too_large' }],
  ])('%s', (_claim, bytes, error = malformed) =>
    server.check({
      sent: Buffer.concat([one, two, Buffer.from(bytes)]),
      replies: [stored, stored, error],
      stored: [plantOf(1), plantOf(2)],
    }),
  )

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

test('a plant between a refused request and a broken one is stored, and all three are answered', () =>
  server.check({
    sent: Buffer.concat([wrong, one, postChunks('zz\r\n')]),
    replies: [{ error: 'invalid_token' }, stored, malformed],
    stored: [plantOf(1)],
  }))

// RFC 9112 §9.6: after a response that closes the connection no further request is processed.
describe('what follows a request that ends the connection is neither answered nor stored, after', () => {
  const longChunk = postChunks(inChunk(long))
  test.each<[claim: string, bytes: Buffer, reply: ExpectedReply]>([
    ['two Hosts', withLines('Host: other.test'), malformed],
    ['no Host', request({ host: null }), malformed],
    ['another version', http2, malformed],
    ['a fragment', request({ line: 'POST /plants#f HTTP/1.1' }), malformed],
    ['a broken header', withLines('X : a'), malformed],
    ['garbage', Buffer.from('garbage\r\n\r\n'), malformed],
    ['201 header lines', withLines(...Array(201).fill('a:')), { error: 'headers_too_large' }],
    ['another expectation', withLines('Expect: x'), { error: 'expectation_failed' }],
    ['a long body', post(long), { error: 'body_too_large' }],
    ['a long body in chunks', longChunk, { error: 'body_too_large' }],
    ['"Connection: close"', withLines('Connection: close'), stored],
    ['HTTP/1.0', http10, stored],
  ])('%s', (_claim, bytes, reply) =>
    server.check({
      sent: Buffer.concat([bytes, two]),
      replies: [reply],
      stored: reply === stored ? [plantOf(1)] : [],
      connection: 'closed',
    }),
  )
})

test('a request may come byte by byte', async () => {
  const caller = await server.open()
  for (const byte of one) caller.send(Uint8Array.of(byte))
  expectReply(await caller.readReply(), stored)
  await server.expectStoredAndServing([plantOf(1)])
})
