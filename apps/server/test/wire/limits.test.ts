import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { expectReply, headerOf } from './expectations.ts'
import { useWireServer } from './harness.ts'
import {
  chunk,
  LAST_CHUNK,
  plantOf,
  plantText,
  post,
  postChunks,
  request,
  token,
} from './request.ts'

const server = useWireServer()

/** The default of PLANT_STORE_BODY_LIMIT_BYTES. */
const LIMIT = 65_536

const tooLarge = { error: 'body_too_large', message: /65536 bytes/ } as const
const headersTooLarge = { error: 'headers_too_large' } as const

/** The JSON of a plant with spaces before it, in this many bytes. */
function bodyOf(length: number): string {
  return plantText(1).padStart(length)
}

describe('a body', () => {
  test('of exactly the limit is accepted', () => server.accepts(post(bodyOf(LIMIT)), plantOf(1)))

  test('of exactly the limit in chunks is accepted', () => {
    const chunks = bodyOf(LIMIT).match(/.{1,4096}/gs) ?? []
    return server.accepts(postChunks(chunks.map(chunk).join('') + LAST_CHUNK), plantOf(1))
  })

  test('of one byte more is refused', () =>
    server.refuses(post(bodyOf(LIMIT + 1)), tooLarge, 'closed'))

  test('of one byte more in chunks is refused', () =>
    server.refuses(postChunks(chunk(bodyOf(LIMIT + 1)) + LAST_CHUNK), tooLarge, 'closed'))

  test('is measured in bytes, not in characters', () => {
    const name = 'ö'.repeat(LIMIT / 2)
    return server.refuses(post(`{"id":1,"name":"${name}"}`), tooLarge, 'closed')
  })

  test.each<[length: string]>([['65537'], ['1000000000000'], ['18446744073709551615']])(
    'of %s bytes by its Content-Length is refused before any of it came',
    (length) =>
      server.refuses(
        request({ framing: `Content-Length: ${length}`, body: '' }),
        tooLarge,
        'lingering',
      ),
  )

  test('that is too long is refused on a connection that the server closes by itself', () =>
    server.refuses(request({ framing: 'Content-Length: 70000', body: '' }), tooLarge, 'closed'))

  test('in chunks that never end is refused while it comes', () =>
    server.refuses(postChunks(chunk('x'.repeat(4_096)).repeat(50)), tooLarge, 'lingering'))

  test.each<[claim: string, head: Buffer, piece: string]>([
    ['by its length', request({ framing: 'Content-Length: 5000000', body: '' }), 'x'.repeat(4_000)],
    ['in chunks', postChunks(''), chunk('x'.repeat(4_000))],
  ])(
    'too long %s is answered legibly though the caller goes on sending',
    async (_claim, head, piece) => {
      const caller = await server.open()
      caller.send(head)
      // It reads while it sends, as callers do: what a failed write leaves unread is lost.
      const reply = caller.readReply()
      for (let sent = 0; sent < 1_250; sent++) {
        caller.send(piece)
        await nextTurn()
      }
      expectReply(await reply, tooLarge)
      expect(String(await caller.readToEnd())).toBe('')
      await server.expectStoredAndServing([])
    },
  )
})

describe('an unauthenticated client is answered', () => {
  const missing = { error: 'missing_credentials' } as const

  test('at once though 100 kB are still to come', () =>
    server.refuses(
      request({ authorization: null, framing: 'Content-Length: 100000', body: '{"id":' }),
      missing,
      'lingering',
    ))

  test('at once though chunks are still to come', () =>
    server.refuses(postChunks(chunk('{'), { authorization: null }), missing, 'lingering'))

  test('at once, and may send the rest of a body within the limit and go on', async () => {
    const caller = await server.open()
    caller.send(request({ authorization: null, framing: 'Content-Length: 50000', body: '' }))
    const reply = await caller.readReply()
    expectReply(reply, missing)
    expect(headerOf(reply, 'connection')).toBe('keep-alive')
    caller.send('x'.repeat(50_000))
    caller.send(post(plantText(1)))
    expectReply(await caller.readReply(), { plant: { name: plantOf(1).name } })
    await server.expectStoredAndServing([plantOf(1)])
  })
})

describe('headers', () => {
  test('of 15 kB are accepted', () =>
    server.accepts(post(plantText(1), { more: [`X: ${'a'.repeat(15_000)}`] }), plantOf(1)))

  test('of 100 lines are accepted', () =>
    server.accepts(post(plantText(1), { more: Array(100).fill('X: a') }), plantOf(1)))

  test.each<[claim: string, bytes: string | Buffer]>([
    ['one of 17 kB', post(plantText(1), { more: [`X: ${'a'.repeat(17_000)}`] })],
    ['one with a name of 17 kB', post(plantText(1), { more: [`${'a'.repeat(17_000)}: a`] })],
    ['17 of 1 kB', post(plantText(1), { more: Array(17).fill(`X: ${'a'.repeat(1_000)}`) })],
    ['3,000 of a few bytes', post(plantText(1), { more: Array(3_000).fill('X-A: bcd') })],
    ['a token of 20 kB', post(plantText(1), { authorization: `Bearer ${'a'.repeat(20_000)}` })],
    ['a Host of 20 kB', post(plantText(1), { host: 'a'.repeat(20_000) })],
    ['a target of 20 kB', request({ line: `POST /${'a'.repeat(20_000)} HTTP/1.1` })],
    ['a query of 20 kB', request({ line: `POST /plants?${'a'.repeat(20_000)} HTTP/1.1` })],
    ['20 kB of a header that does not end', `POST /plants HTTP/1.1\r\nX: ${'a'.repeat(20_000)}`],
    ['20 kB of a target that does not end', `POST /${'a'.repeat(20_000)}`],
  ])('over the limit are refused: %s', (_claim, bytes) =>
    server.refuses(bytes, headersTooLarge, 'closed'),
  )

  test.each<[claim: string, hidden: string]>([
    ['Authorization', `Authorization: Bearer ${token.text}`],
    ['Host', 'Host: other.test'],
    ['Content-Type', 'Content-Type: text/plain'],
    ['Content-Encoding', 'Content-Encoding: gzip'],
  ])('of 2,001 tiny lines hide no second %s', (_claim, hidden) =>
    server.refuses(
      post(plantText(1), { more: [...Array(2_001).fill('a:'), hidden] }),
      headersTooLarge,
      'closed',
    ),
  )

  test('of 2,001 tiny lines hide no Content-Length', () => {
    const more = Array(2_001).fill('a:')
    return server.refuses(post(String(post(plantText(666))), { more }), headersTooLarge, 'closed')
  })

  test('as trailers over the limit are refused', () =>
    server.refuses(
      postChunks(`${chunk(plantText(1))}0\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`),
      headersTooLarge,
      'lingering',
    ))

  test('as chunk extensions of 20 kB are refused', () =>
    server.refuses(
      postChunks(
        `${chunk(plantText(1)).replace('\r\n', `;${'a'.repeat(20_000)}\r\n`)}${LAST_CHUNK}`,
      ),
      { error: 'body_too_large' },
      'lingering',
    ))
})

describe('many connections', () => {
  test('that send nothing keep nobody from being served', async () => {
    await Promise.all(Array.from({ length: 300 }, () => server.open()))
    await server.accepts(post(plantText(1)), plantOf(1))
  })

  test('that stay in the middle of a request keep nobody from being served', async () => {
    const bytes = post(plantText(2))
    for (let length = 1; length < bytes.length; length++) {
      const caller = await server.open()
      caller.send(bytes.subarray(0, length))
    }
    await server.accepts(post(plantText(1)), plantOf(1))
  })
})

describe('connections that reset', () => {
  const quiet = useWireServer()

  test('keep nobody from being served, and fill no log', async () => {
    const bytes = post(plantText(1))
    for (let count = 0; count < 200; count++) {
      const caller = await quiet.open()
      caller.send(bytes.subarray(0, bytes.length - (count % 100) - 1))
      caller.reset()
    }
    await quiet.expectStoredAndServing([])
    const lines = (await quiet.readLog()).filter((line) => JSON.parse(line).level !== 'debug')
    expect(lines.length).toBeLessThan(20)
  })
})
