import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { expectReply, headerOf, missing } from './expectations.ts'
import { type Refusal, useWireServer } from './harness.ts'
import {
  chunk,
  LAST_CHUNK,
  plantOf,
  plantText,
  post,
  postChunks,
  request,
  token,
  withLines,
} from './request.ts'

const server = useWireServer()

/** The default of PLANT_STORE_BODY_LIMIT_BYTES. */
const LIMIT = 65_536

const tooLarge = { error: 'body_too_large', message: /65536 bytes/ } as const
const headersTooLarge = { error: 'headers_too_large' } as const

/** The JSON of a plant with spaces before it, in this many bytes. */
const bodyOf = (length: number) => plantText(1).padStart(length)
const inChunks = (text: string, size: number) =>
  postChunks((text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? []).map(chunk).join('') + LAST_CHUNK)
/** The head of a request with a body of this length. */
const announcing = (length: string) => request({ framing: `Content-Length: ${length}`, body: '' })
const long = (length: number) => 'a'.repeat(length)

describe('a body', () => {
  test.each([
    ['at once', post(bodyOf(LIMIT))],
    ['in chunks', inChunks(bodyOf(LIMIT), 4_096)],
  ])('of exactly the limit is accepted %s', (_claim, bytes) => server.accepts(bytes))

  const endless = postChunks(chunk('x'.repeat(4_096)).repeat(50))
  test.each<Refusal>([
    ['of one byte more', post(bodyOf(LIMIT + 1)), tooLarge],
    ['of one byte more in chunks', inChunks(bodyOf(LIMIT + 1), LIMIT + 1), tooLarge],
    ['of more bytes, though not of more characters', post('"ö"'.repeat(LIMIT / 3)), tooLarge],
    ['of 65,537 bytes before they came', announcing('65537'), tooLarge, 'lingering'],
    ['of a terabyte before it came', announcing('1000000000000'), tooLarge, 'lingering'],
    ['of 2⁶⁴ - 1 bytes', announcing('18446744073709551615'), tooLarge, 'lingering'],
    ['and the server closes by itself', announcing('70000'), tooLarge, 'closed'],
    ['in chunks that never end while it comes', endless, tooLarge, 'lingering'],
  ])('is refused: %s', (_claim, ...refusal) => server.refuses(...refusal))

  test.each([
    ['by its length', announcing('5000000'), 'x'.repeat(4_000)],
    ['in chunks', postChunks(''), chunk('x'.repeat(4_000))],
  ])('too long %s is answered legibly though the caller sends on', async (_claim, head, piece) => {
    const caller = await server.open()
    caller.send(head)
    // It reads while it sends, as callers do: what a failed write leaves unread is lost.
    const response = caller.readReply()
    for (let sent = 0; sent < 1_250; sent++) {
      caller.send(piece)
      await nextTurn()
    }
    expectReply(await response, tooLarge)
    expect(String(await caller.readToEnd())).toBe('')
    await server.expectStoredAndServing([])
  })
})

describe('a caller without a token is answered at once', () => {
  const begun = { authorization: null, framing: 'Content-Length: 100000', body: '{"id":' }
  test.each<Refusal>([
    ['though 100 kB are still to come', request(begun), missing, 'lingering'],
    [
      'though chunks are still to come',
      postChunks(chunk('{'), { authorization: null }),
      missing,
      'lingering',
    ],
  ])('%s', (_claim, ...refusal) => server.refuses(...refusal))

  test('and may send the rest of a body within the limit and go on', async () => {
    const caller = await server.open()
    caller.send(request({ authorization: null, framing: 'Content-Length: 50000', body: '' }))
    const response = await caller.readReply()
    expectReply(response, missing)
    expect(headerOf(response, 'connection')).toBe('keep-alive')
    caller.send('x'.repeat(50_000))
    caller.send(request())
    expectReply(await caller.readReply(), { plant: { name: plantOf(1).name } })
    await server.expectStoredAndServing([plantOf(1)])
  })
})

describe('headers', () => {
  test.each([
    ['of 15 kB', [`X: ${long(15_000)}`]],
    ['of 100 lines', Array(100).fill('X: a')],
  ])('%s are accepted', (_claim, more) => server.accepts(request({ more })))

  const hiding = (line: string) => withLines(...Array(2_001).fill('a:'), line)
  const extended = chunk(plantText(1)).replace('\r\n', `;${long(20_000)}\r\n`) + LAST_CHUNK
  const trailers = `${chunk(plantText(1))}0\r\nX: ${long(20_000)}\r\n\r\n`
  const more = Array(2_001).fill('a:')
  test.each<Refusal>([
    ['one of 17 kB', withLines(`X: ${long(17_000)}`), headersTooLarge],
    ['one with a name of 17 kB', withLines(`${long(17_000)}: a`), headersTooLarge],
    ['17 of 1 kB', withLines(...Array(17).fill(`X: ${long(1_000)}`)), headersTooLarge],
    ['3,000 of a few bytes', withLines(...Array(3_000).fill('X-A: bcd')), headersTooLarge],
    ['a token', request({ authorization: `Bearer ${long(20_000)}` }), headersTooLarge],
    ['a Host', request({ host: long(20_000) }), headersTooLarge],
    ['a target', request({ line: `POST /${long(20_000)} HTTP/1.1` }), headersTooLarge],
    ['a query', request({ line: `POST /plants?${long(20_000)} HTTP/1.1` }), headersTooLarge],
    ['one without an end', `POST /plants HTTP/1.1\r\nX: ${long(20_000)}`, headersTooLarge],
    ['a target without an end', `POST /${long(20_000)}`, headersTooLarge],
    ['tiny ones before a token', hiding(`Authorization: Bearer ${token.text}`), headersTooLarge],
    ['tiny ones before a Host', hiding('Host: other.test'), headersTooLarge],
    ['tiny ones before a media type', hiding('Content-Type: text/plain'), headersTooLarge],
    ['tiny ones before a coding', hiding('Content-Encoding: gzip'), headersTooLarge],
    ['tiny ones before a length', post(String(post(plantText(666))), { more }), headersTooLarge],
    ['trailers', postChunks(trailers), headersTooLarge, 'lingering'],
    ['chunk extensions', postChunks(extended), { error: 'body_too_large' }, 'lingering'],
  ])('are refused over the limit: %s', (_claim, ...refusal) => server.refuses(...refusal))
})

describe('many connections', () => {
  test('that send nothing keep nobody from being served', async () => {
    await Promise.all(Array.from({ length: 300 }, () => server.open()))
    await server.accepts(request())
  })

  test('that stay in the middle of a request keep nobody from being served', async () => {
    const bytes = post(plantText(2))
    for (let length = 1; length < bytes.length; length++) {
      const caller = await server.open()
      caller.send(bytes.subarray(0, length))
    }
    await server.accepts(request())
  })

  test('that reset keep nobody from being served, and fill no log', async () => {
    const bytes = request()
    for (let count = 0; count < 200; count++) {
      const caller = await server.open()
      caller.send(bytes.subarray(0, bytes.length - (count % 100) - 1))
      caller.reset()
    }
    await server.expectStoredAndServing([])
    const lines = (await server.readLog()).filter((line) => JSON.parse(line).level !== 'debug')
    expect(lines.length).toBeLessThan(20)
  })
})
