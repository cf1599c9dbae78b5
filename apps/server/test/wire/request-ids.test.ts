import { describe, expect, test } from 'vitest'
import { expectReply, headerOf } from './expectations.ts'
import { useWireServer } from './harness.ts'
import type { Bytes, Reply } from './raw-socket.ts'
import { plantText, post, postChunks, type RequestParts, request } from './request.ts'

const server = useWireServer()

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** The last of the replies to these bytes. */
async function replyTo(bytes: Bytes, count = 1): Promise<Reply> {
  const caller = await server.open()
  caller.send(bytes)
  for (let index = 1; index < count; index++) await caller.readReply()
  return caller.readReply()
}

async function requestIdOfReplyTo(bytes: Bytes, count = 1): Promise<string | undefined> {
  return headerOf(await replyTo(bytes, count), 'x-request-id')
}

function postWith(...lines: string[]): Buffer {
  return post(plantText(1), { more: lines })
}

describe('the request id of the caller is sent back:', () => {
  test.each<[claim: string, id: string]>([
    ['one character', 'a'],
    ['one dot', '.'],
    ['every kind of character', 'AZaz09._-'],
    ['128 characters', 'x'.repeat(128)],
    ['a UUID', '0190163d-8694-739b-aea5-966c26f8ad91'],
    ['in front of white space', 'abc  '],
  ])('%s', async (_claim, id) => {
    expect(await requestIdOfReplyTo(postWith(`X-Request-Id: ${id}`))).toBe(id.trim())
  })

  const more = ['X-Request-ID: of-the-caller']
  const huge = `Content-Length: 70000`

  test.each<[claim: string, parts: RequestParts, status: number]>([
    ['a 400 by its JSON', { body: '{', more }, 400],
    ['a 400 by its plant', { body: '{}', more }, 400],
    ['a 400 by its framing', { more: [...more, 'Host: a'] }, 400],
    ['a 401', { authorization: null, more }, 401],
    ['a 404', { line: 'POST / HTTP/1.1', more }, 404],
    ['a 405', { line: 'GET /plants HTTP/1.1', more }, 405],
    ['a 413', { framing: huge, body: '', more }, 413],
    ['a 415', { contentType: null, more }, 415],
    ['a 417', { more: [...more, 'Expect: a'] }, 417],
  ])('with %s', async (_claim, parts, status) => {
    const reply = await replyTo(request(parts))
    expect(reply.status).toBe(status)
    expect(headerOf(reply, 'x-request-id')).toBe('of-the-caller')
  })

  test('with a 400 by a broken chunk', async () => {
    const reply = await replyTo(postChunks('zz\r\n', { more }))
    expectReply(reply, { error: 'malformed_request' })
    expect(headerOf(reply, 'x-request-id')).toBe('of-the-caller')
  })

  test('and is in the line of the log', async () => {
    await replyTo(request({ authorization: null, more }))
    const lines = (await server.readLog()).map((line) => JSON.parse(line))
    expect(lines).toContainEqual(
      expect.objectContaining({ requestId: 'of-the-caller', status: 401 }),
    )
  })
})

describe('a fresh UUID is sent', () => {
  test.each<[claim: string, lines: string[]]>([
    ['without a request id', []],
    ['for an empty one', ['X-Request-Id: ']],
    ['for 129 characters', [`X-Request-Id: ${'x'.repeat(129)}`]],
    ['for a space within', ['X-Request-Id: a b']],
    ['for a slash', ['X-Request-Id: a/b']],
    ['for a comma', ['X-Request-Id: a,b']],
    ['for a quote', ['X-Request-Id: "a"']],
    ['for markup', ['X-Request-Id: <script>']],
    ['for letters beyond ASCII', ['X-Request-Id: \xe9']],
    ['for a token', [`X-Request-Id: plant_0123456789ab_${'x'.repeat(51)}`]],
    ['for a token among other words', [`X-Request-Id: Bearer_PLANT_0123456789ab_x`]],
    ['for a JWT', ['X-Request-Id: eyJhbGciOiJFUzI1NiJ9.e30.AAAA']],
    ['for two of them', ['X-Request-Id: a', 'X-Request-Id: b']],
    ['for twice the same', ['X-Request-Id: a', 'X-Request-Id: a']],
  ])('%s', async (_claim, lines) => {
    const first = await requestIdOfReplyTo(postWith(...lines))
    const second = await requestIdOfReplyTo(postWith(...lines))
    expect(first).toMatch(UUID)
    expect(second).toMatch(UUID)
    expect(second).not.toBe(first)
  })

  test('for bytes that are no request', async () => {
    expect(await requestIdOfReplyTo('garbage\r\n\r\n')).toMatch(UUID)
  })

  test('for garbage after a request that had one of its own', async () => {
    const bytes = `${postWith('X-Request-Id: first')}garbage`
    expect(await requestIdOfReplyTo(bytes, 2)).toMatch(UUID)
  })
})
