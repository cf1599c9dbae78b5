import { describe, expect, test } from 'vitest'
import { expectReply } from './expectations.ts'
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

const malformed = { error: 'malformed_request' } as const

const body = plantText(1)

/** A second request, which must never be read out of the first one. */
const smuggled = String(post(plantText(666)))

describe('a chunked body is read', () => {
  test.each<[claim: string, chunks: string]>([
    ['in one chunk', chunk(body) + LAST_CHUNK],
    ['in a chunk for each byte', [...body].map(chunk).join('') + LAST_CHUNK],
    ['with sizes in capitals', `${chunk(body).toUpperCase().slice(0, 4)}${body}\r\n${LAST_CHUNK}`],
    ['with zeros before its sizes', `000${chunk(body)}0000${LAST_CHUNK}`],
    ['with small extensions', `${chunk(body).replace('\r\n', ';a=b;c="d e"\r\n')}0;e\r\n\r\n`],
    ['with trailers, which are ignored', `${chunk(body)}0\r\nX-Trailer: a\r\nDate: now\r\n\r\n`],
    ['with __proto__ as trailer, which is ignored', `${chunk(body)}0\r\n__proto__: a\r\n\r\n`],
    [
      'with a credential as trailer, which is ignored',
      `${chunk(body)}0\r\nAuthorization: x\r\n\r\n`,
    ],
  ])('%s', (_claim, chunks) => server.accepts(postChunks(chunks), plantOf(1)))

  test.each<[coding: string]>([['Chunked'], ['CHUNKED'], ['\tchunked'], ['chunked  ']])(
    'as transfer coding %j',
    (coding) => {
      const framing = `Transfer-Encoding: ${coding}`
      return server.accepts(request({ framing, body: chunk(body) + LAST_CHUNK }), plantOf(1))
    },
  )

  test('and an empty one is no JSON', () =>
    server.refuses(postChunks(LAST_CHUNK), { error: 'malformed_json' }))
})

describe('a broken chunk is refused, and nothing of it is stored:', () => {
  test.each<[claim: string, chunks: string]>([
    ['a size that is no number', `zz\r\n${body}\r\n${LAST_CHUNK}`],
    ['a negative size', `-1\r\n${body}\r\n${LAST_CHUNK}`],
    ['a size with 0x', `0x${chunk(body)}${LAST_CHUNK}`],
    ['a space after the size', `${chunk(body).replace('\r\n', ' \r\n')}${LAST_CHUNK}`],
    ['a space before the size', ` ${chunk(body)}${LAST_CHUNK}`],
    ['no size', `\r\n${body}\r\n${LAST_CHUNK}`],
    ['a size beyond 64 bits', `FFFFFFFFFFFFFFFFF\r\n${body}`],
    ['no line end after the chunk', `${chunk(body).slice(0, -2)}${LAST_CHUNK}`],
    ['a chunk longer than its size', `2\r\n${body}\r\n${LAST_CHUNK}`],
    ['a line feed alone after the size', `${chunk(body).replace('\r\n', '\n')}${LAST_CHUNK}`],
    ['a line feed alone after the chunk', `${chunk(body).slice(0, -2)}\n${LAST_CHUNK}`],
    ['a line feed alone after an extension', `${chunk(body).replace('\r\n', ';a\n')}${LAST_CHUNK}`],
    ['a line feed alone at the end', `${chunk(body)}0\r\n\n`],
    ['a bad chunk in the middle', `${chunk(body.slice(0, 9))}g\r\n${chunk(body.slice(9))}`],
    ['a space before the colon of a trailer', `${chunk(body)}0\r\nX : a\r\n\r\n`],
    ['a Content-Length as trailer', `${chunk(body)}0\r\nContent-Length: 3\r\n\r\n`],
    ['a Transfer-Encoding as trailer', `${chunk(body)}0\r\nTransfer-Encoding: chunked\r\n\r\n`],
  ])('%s', (_claim, chunks) => server.refuses(postChunks(chunks), malformed, 'lingering'))

  test('the server closes the connection by itself', () =>
    server.refuses(postChunks('zz\r\n'), malformed, 'closed'))
})

describe('a transfer coding that is not simply chunked is refused:', () => {
  test.each<[coding: string]>([
    ['chunked, chunked'],
    ['chunked\r\nTransfer-Encoding: chunked'],
    ['identity'],
    ['identity, chunked'],
    ['identity\r\nTransfer-Encoding: chunked'],
    ['chunked, identity'],
    ['gzip'],
    ['gzip, chunked'],
    ['deflate\r\nTransfer-Encoding: chunked'],
    ['xchunked'],
    ['chunkedx'],
    ['"chunked"'],
    ['chunked;q=1'],
    ['chunked,'],
    [''],
  ])('%j', (coding) => {
    const framing = `Transfer-Encoding: ${coding}`
    const bytes = request({ framing, body: chunk(body) + LAST_CHUNK })
    return server.refuses(bytes, malformed, 'lingering')
  })

  test('a space before the colon', () =>
    server.refuses(
      request({ framing: 'Transfer-Encoding : chunked', body: chunk(body) + LAST_CHUNK }),
      malformed,
      'closed',
    ))

  // RFC 9112 §6.1: such framing is faulty, and the connection must not go on.
  test.each<[claim: string, more: string[]]>([
    ['chunked in HTTP/1.0', []],
    ['chunked in HTTP/1.0 that would be kept alive', ['Connection: keep-alive']],
  ])('%s', (_claim, more) => {
    const parts = { line: 'POST /plants HTTP/1.0', more }
    return server.refuses(postChunks(chunk(body) + LAST_CHUNK, parts), malformed, 'lingering')
  })
})

describe('a Content-Length that is no single number is refused:', () => {
  const { length } = body

  test.each<[framing: string]>([
    [`Content-Length: ${length}\r\nContent-Length: ${length}`],
    [`Content-Length: ${length}\r\nContent-Length: 2`],
    [`Content-Length: 2\r\nContent-Length: ${length}`],
    [`Content-Length: ${length}\r\ncontent-length: ${length}`],
    [`Content-Length: ${length}, ${length}`],
    [`Content-Length: +${length}`],
    [`Content-Length: -${length}`],
    ['Content-Length: -1'],
    ['Content-Length: 0x20'],
    [`Content-Length: ${length}.0`],
    ['Content-Length: 4e1'],
    ['Content-Length: 4 2'],
    ['Content-Length: 4_2'],
    ['Content-Length: "42"'],
    ['Content-Length: 99999999999999999999'],
    ['Content-Length: 18446744073709551616'],
    ['Content-Length: '],
    [`Content-Length : ${length}`],
    [`Content-Length\t: ${length}`],
    [` Content-Length: ${length}`],
    [`Content-Length: ${length}\x0b`],
  ])('%j', (framing) => server.refuses(request({ framing, body }), malformed, 'closed'))

  test('but zeros before it change nothing', () =>
    server.accepts(request({ framing: `Content-Length: 000${length}`, body }), plantOf(1)))
})

describe('nothing is smuggled in:', () => {
  test.each<[claim: string, framing: string]>([
    ['Content-Length, then Transfer-Encoding', 'Content-Length: 6\r\nTransfer-Encoding: chunked'],
    ['Transfer-Encoding, then Content-Length', 'Transfer-Encoding: chunked\r\nContent-Length: 6'],
    ['a tab before chunked', 'Content-Length: 6\r\nTransfer-Encoding:\tchunked'],
    [
      'a line feed before Transfer-Encoding',
      'Content-Length: 6\r\nX: a\nTransfer-Encoding: chunked',
    ],
    ['a return before Transfer-Encoding', 'Content-Length: 6\r\nX: a\rTransfer-Encoding: chunked'],
    ['a space before Transfer-Encoding', 'Content-Length: 6\r\n Transfer-Encoding: chunked'],
    ['a space after Transfer-Encoding', 'Content-Length: 6\r\nTransfer-Encoding : chunked'],
    ['a NUL in Transfer-Encoding', 'Content-Length: 6\r\nTransfer\0-Encoding: chunked'],
    ['a vertical tab before chunked', 'Content-Length: 6\r\nTransfer-Encoding: \x0bchunked'],
    ['a folded Transfer-Encoding', 'Content-Length: 6\r\nTransfer-Encoding:\r\n chunked'],
    ['an unknown coding', 'Content-Length: 6\r\nTransfer-Encoding: x'],
    ['two Content-Lengths', 'Content-Length: 5\r\nContent-Length: 6'],
  ])('%s gets one reply', (_claim, framing) =>
    server.refuses(request({ framing, body: `0\r\n\r\n${smuggled}` }), malformed, 'closed'),
  )

  test('a Content-Length that covers a second request gets one reply', () =>
    server.refuses(post(smuggled), { error: 'malformed_json' }))

  test('a request inside a name is text', () => {
    const name = `a\r\n\r\n${smuggled.replace(token.text, 'x')}`
    return server.accepts(post(JSON.stringify({ id: 1, name })), { id: 1n, name })
  })

  test('an unknown header that looks like Transfer-Encoding frames nothing', () =>
    server.accepts(post(body, { more: ['Transfer_Encoding: chunked'] }), plantOf(1)))

  test('a request inside a chunk extension is no request', () => {
    const extension = `;${smuggled.replaceAll('\r\n', ' ')}`
    const chunks = chunk(body).replace('\r\n', `${extension}\r\n`) + LAST_CHUNK
    return server.refuses(postChunks(chunks), malformed, 'lingering')
  })
})

describe('a body that is not as long as it says', () => {
  test('is taken up to its length when it is longer, and the rest is no request', () =>
    server.check({
      sent: Buffer.concat([post(body), Buffer.from('{"id":2}')]),
      replies: [{ plant: { name: plantOf(1).name } }, malformed],
      stored: [plantOf(1)],
      connection: 'closed',
    }))

  test('stores nothing when it is shorter and the caller ends', async () => {
    const caller = await server.open()
    caller.send(request({ framing: `Content-Length: ${body.length + 1}`, body }))
    caller.finish()
    expectReply(await caller.readReply(), malformed)
    await server.expectStoredAndServing([])
  })

  test('stores nothing when its last chunk is missing and the caller ends', async () => {
    const caller = await server.open()
    caller.send(postChunks(chunk(body)))
    caller.finish()
    expectReply(await caller.readReply(), malformed)
    await server.expectStoredAndServing([])
  })

  test('stores nothing when the caller resets in the middle', async () => {
    const bytes = post(body)
    for (const cut of [1, 40, bytes.length - body.length, bytes.length - 1]) {
      const caller = await server.open()
      caller.send(bytes.subarray(0, cut))
      caller.reset()
    }
    await server.expectStoredAndServing([])
  })

  test('is stored whole or not at all when the caller resets after it', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => index)
    for (const id of ids) {
      const caller = await server.open()
      caller.send(post(plantText(id)))
      caller.reset()
    }
    const last = await server.open()
    last.send(post(plantText(20)))
    expectReply(await last.readReply(), { plant: { name: plantOf(20).name } })
    const whole = [...ids, 20].map(plantOf)
    for (const plant of await server.database.readPlants()) {
      expect(whole).toContainEqual(plant)
    }
  })
})
