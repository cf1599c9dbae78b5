import { describe, expect, test } from 'vitest'
import { expectReply, headerOf, missing, stored } from './expectations.ts'
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
const headersTooLarge = {
  error: 'headers_too_large',
  message: /request line|200 header lines/,
} as const

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
})

describe('a caller without a token is answered at once', () => {
  const begun = { authorization: null, framing: 'Content-Length: 100000', body: '{"id":' }
  const begunChunks = postChunks(chunk('{'), { authorization: null })
  test.each<Refusal>([
    ['though 100 kB are still to come', request(begun), missing, 'lingering'],
    ['though chunks are still to come', begunChunks, missing, 'lingering'],
  ])('%s', (_claim, ...refusal) => server.refuses(...refusal))

  test('and may send the rest of a body within the limit and go on', async () => {
    const caller = await server.open()
    caller.send(request({ authorization: null, framing: 'Content-Length: 50000', body: '' }))
    const response = await caller.readReply()
    expectReply(response, missing)
    expect(headerOf(response, 'connection')).toBe('keep-alive')
    caller.send('x'.repeat(50_000))
    caller.send(request())
    expectReply(await caller.readReply(), stored)
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

test('connections that send nothing, or stay in the middle of a request, keep nobody from being served', async () => {
  const bytes = post(plantText(2))
  for (let length = 0; length < bytes.length; length++) {
    const caller = await server.open()
    caller.send(bytes.subarray(0, length))
  }
  await server.accepts(request())
})

const timedOut = { error: 'request_timeout', message: /in time/ } as const
const whole = request()
const headLength = whole.indexOf('\r\n\r\n') + 4

describe('what does not arrive in time is answered 408, stores nothing and is closed:', () => {
  const server = useWireServer({ requestTimeoutMs: '200' })

  const unfinished: readonly [claim: string, bytes: string | Buffer][] = [
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

  // Overdue requests are looked for twice a second: all of them wait for that at the same time.
  test('what is unfinished', async () => {
    const begin = performance.now()
    const answers = unfinished.map(async ([claim, bytes]) => {
      const caller = await server.open()
      caller.send(bytes)
      const response = await caller.readReply()
      expectReply(response, timedOut)
      expect(headerOf(response, 'connection'), claim).toBe('close')
      expect(String(await caller.readToEnd()), claim).toBe('')
    })
    await Promise.all(answers)
    // Beyond 5 s a body is too slow, whatever the time of a request.
    expect(performance.now() - begin).toBeLessThan(4_000)
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
