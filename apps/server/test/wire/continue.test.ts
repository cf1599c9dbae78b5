import { describe, test } from 'vitest'
import type { ExpectedError } from './expectations.ts'
import { expectReply } from './expectations.ts'
import { useWireServer } from './harness.ts'
import {
  chunk,
  LAST_CHUNK,
  plantOf,
  plantText,
  post,
  type RequestParts,
  request,
} from './request.ts'

const server = useWireServer()

const body = plantText(1)
const expectContinue = 'Expect: 100-continue'

/** The head of a request that asks before it sends its body. */
function askingHead(parts: RequestParts = {}): Buffer {
  const framing = `Content-Length: ${body.length}`
  return request({ framing, more: [expectContinue], ...parts, body: '' })
}

describe('a body is asked for', () => {
  test.each<[claim: string, parts: RequestParts, rest: string]>([
    ['by its length', {}, body],
    ['in chunks', { framing: 'Transfer-Encoding: chunked' }, chunk(body) + LAST_CHUNK],
    ['with the expectation in capitals', { more: ['EXPECT: 100-CONTINUE'] }, body],
  ])('once its headers have passed, %s', async (_claim, parts, rest) => {
    const caller = await server.open()
    caller.send(askingHead(parts))
    expectReply(await caller.readReply(), 'continue')
    caller.send(rest)
    expectReply(await caller.readReply(), { plant: { name: plantOf(1).name } })
    await server.expectStoredAndServing([plantOf(1)])
  })

  test('on a connection that goes on', () =>
    server.check({
      sent: post(body, { more: [expectContinue] }),
      replies: ['continue', { plant: { name: plantOf(1).name } }],
      stored: [plantOf(1)],
    }))

  test('and refused by what it holds', () =>
    server.check({
      sent: post('{}', { more: [expectContinue] }),
      replies: ['continue', { error: 'invalid_plant' }],
    }))

  test('and refused by its length in chunks', () =>
    server.check({
      sent: request({
        more: [expectContinue],
        framing: 'Transfer-Encoding: chunked',
        body: chunk('x'.repeat(70_000)) + LAST_CHUNK,
      }),
      replies: ['continue', { error: 'body_too_large' }],
      connection: 'closed',
    }))

  // RFC 9110 §10.1.1: a 100-continue in HTTP/1.0 is ignored.
  test('never in HTTP/1.0', () =>
    server.accepts(
      post(body, { line: 'POST /plants HTTP/1.0', more: [expectContinue] }),
      plantOf(1),
      'closed',
    ))
})

describe('a body is never asked for with', () => {
  test.each<[claim: string, parts: RequestParts, error: ExpectedError]>([
    ['no credential', { authorization: null }, { error: 'missing_credentials' }],
    ['a wrong credential', { authorization: 'Bearer x' }, { error: 'invalid_token' }],
    ['another path', { line: 'POST /other HTTP/1.1' }, { error: 'not_found' }],
    ['another method', { line: 'PUT /plants HTTP/1.1' }, { error: 'method_not_allowed' }],
    [
      'another media type',
      { contentType: 'text/plain' },
      { error: 'unsupported_media_type', headers: { accept: 'application/json' } },
    ],
    [
      'a content coding',
      { more: [expectContinue, 'Content-Encoding: gzip'] },
      { error: 'unsupported_media_type', headers: { 'accept-encoding': 'identity' } },
    ],
    ['a length over the limit', { framing: 'Content-Length: 65537' }, { error: 'body_too_large' }],
    ['two Hosts', { more: [expectContinue, 'Host: other.test'] }, { error: 'malformed_request' }],
    ['another version', { line: 'POST /plants HTTP/2.0' }, { error: 'malformed_request' }],
  ])('%s', (_claim, parts, error) => server.refuses(askingHead(parts), error, 'lingering'))
})

describe('another expectation is refused:', () => {
  test.each<[expectation: string]>([
    ['200-ok'],
    ['100'],
    ['continue'],
    ['100-continue, 200-ok'],
    ['100-continue; a=b'],
    ['x-continue'],
  ])('%s', (expectation) =>
    server.refuses(
      post(body, { more: [`Expect: ${expectation}`] }),
      {
        error: 'expectation_failed',
        message: /100-continue/,
      },
      'closed',
    ),
  )

  test('a second one', () =>
    server.refuses(
      post(body, { more: [expectContinue, 'Expect: 200-ok'] }),
      { error: 'expectation_failed' },
      'closed',
    ))
})
