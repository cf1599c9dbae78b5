import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import {
  type ExpectedError,
  expectReply,
  malformed,
  missing,
  stored,
  wantsIdentity,
  wantsJson,
  wrongMethod,
} from './expectations.ts'
import { type Refusal, tokenRecord, useWireServer } from './harness.ts'
import {
  chunk,
  inChunk,
  LAST_CHUNK,
  plantOf,
  plantText,
  post,
  postChunks,
  type RequestParts,
  request,
  token,
  withLines,
} from './request.ts'

const server = useWireServer()

const body = plantText(1)
const { length } = body
const http10 = 'POST /plants HTTP/1.0'

/** A second request, which must never be read out of the first one. */
const smuggled = String(post(plantText(666)))

const framed = (framing: string, sent = body) => request({ framing, body: sent })
const chunked = inChunk(body)
const coded = (coding: string) => framed(`Transfer-Encoding: ${coding}`, chunked)

describe('a chunked body is read', () => {
  test.each([
    ['in one chunk', chunked],
    ['in a chunk for each byte', [...body].map(chunk).join('') + LAST_CHUNK],
    ['with sizes in capitals', `${chunk(body).toUpperCase().slice(0, 4)}${body}\r\n${LAST_CHUNK}`],
    ['with zeros before its sizes', `000${chunk(body)}0000${LAST_CHUNK}`],
    ['with small extensions', `${chunk(body).replace('\r\n', ';a=b;c="d e"\r\n')}0;e\r\n\r\n`],
    ['with trailers, which are ignored', `${chunk(body)}0\r\nX-Trailer: a\r\nDate: now\r\n\r\n`],
    ['with __proto__ as trailer, which is ignored', `${chunk(body)}0\r\n__proto__: a\r\n\r\n`],
    ['with a credential as trailer, ignored', `${chunk(body)}0\r\nAuthorization: x\r\n\r\n`],
  ])('%s', (_claim, chunks) => server.accepts(postChunks(chunks)))

  test.each(['Chunked', 'CHUNKED', '\tchunked', 'chunked  '])('as transfer coding %j', (coding) =>
    server.accepts(coded(coding)),
  )

  test('and an empty one is no JSON', () =>
    server.refuses(postChunks(LAST_CHUNK), { error: 'malformed_json' }))
})

describe('a broken chunk is refused, and nothing of it is stored:', () => {
  test.each([
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

  test.each([
    ['asks before its body', ['Expect: 100-continue'], createOpaqueToken()],
    ['shows no known token', [], undefined],
  ])('it is one 400 in the log as well where the request %s', async (_claim, more, fresh) => {
    // Not known to the server, so that the chunk comes while it is looked up.
    const { text = 'x', ...record } = fresh ?? {}
    if (fresh) await server.database.withStore(({ tokens }) => tokens.add(tokenRecord(record)))
    const authorization = fresh ? `Bearer ${text}` : null
    expectReply(await server.ask(postChunks('zz\r\n', { authorization, more })), malformed)
    const statuses = (await server.readLog()).flatMap((line) => JSON.parse(line).status ?? [])
    expect(statuses.filter((status) => status !== 200)).toEqual([400])
  })

  test('the server closes the connection by itself', () =>
    server.refuses(postChunks('zz\r\n'), malformed, 'closed'))
})

describe('a transfer coding that is not simply chunked is refused:', () => {
  const more = '\r\nTransfer-Encoding: '
  const twice = ['chunked, chunked', 'identity, chunked', 'chunked, identity']
  const lines = [`chunked${more}chunked`, `identity${more}chunked`, `deflate${more}chunked`]
  const others = ['identity', 'gzip', 'gzip, chunked', '']
  const misspelled = ['xchunked', 'chunkedx', '"chunked"', 'chunked;q=1', 'chunked,']
  test.each([...twice, ...lines, ...others, ...misspelled])('%j', (coding) =>
    server.refuses(coded(coding), malformed, 'lingering'),
  )

  const kept = postChunks(chunked, { line: http10, more: ['Connection: keep-alive'] })
  // RFC 9112 §6.1: such framing is faulty, and the connection must not go on.
  test.each<Refusal>([
    ['in HTTP/1.0', postChunks(chunked, { line: http10 }), malformed, 'lingering'],
    ['in HTTP/1.0 that would be kept alive', kept, malformed, 'lingering'],
    ['a space before the colon', framed('Transfer-Encoding : chunked', chunked), malformed],
  ])('%s', (_claim, ...refusal) => server.refuses(...refusal))
})

describe('a Content-Length that is no single number is refused:', () => {
  const signed = [`+${length}`, `-${length}`, '-1']
  const otherForms = ['0x20', `${length}.0`, '4e1', '4 2', '4_2', '"42"', '', `${length}\x0b`]
  const tooLarge = ['99999999999999999999', '18446744073709551616']
  const two = [`${length}, ${length}`, `${length}\r\nContent-Length: ${length}`]
  const different = [`${length}\r\nContent-Length: 2`, `2\r\ncontent-length: ${length}`]
  test.each([...signed, ...otherForms, ...tooLarge, ...two, ...different])('%j', (value) =>
    server.refuses(framed(`Content-Length: ${value}`), malformed),
  )

  test.each(['Content-Length :', 'Content-Length\t:', ' Content-Length:'])('after %j', (name) =>
    server.refuses(framed(`${name} ${length}`), malformed),
  )

  test('but zeros before it change nothing', () =>
    server.accepts(framed(`Content-Length: 000${length}`)))
})

describe('nothing is smuggled in:', () => {
  const six = 'Content-Length: 6'
  test.each([
    `${six}\r\nTransfer-Encoding: chunked`,
    `Transfer-Encoding: chunked\r\n${six}`,
    `${six}\r\nTransfer-Encoding:\tchunked`,
    `${six}\r\nX: a\nTransfer-Encoding: chunked`,
    `${six}\r\nX: a\rTransfer-Encoding: chunked`,
    `${six}\r\n Transfer-Encoding: chunked`,
    `${six}\r\nTransfer-Encoding : chunked`,
    `${six}\r\nTransfer\0-Encoding: chunked`,
    `${six}\r\nTransfer-Encoding: \x0bchunked`,
    `${six}\r\nTransfer-Encoding:\r\n chunked`,
    `${six}\r\nTransfer-Encoding: x`,
    `Content-Length: 5\r\n${six}`,
  ])('%j gets one response', (framing) =>
    server.refuses(framed(framing, `0\r\n\r\n${smuggled}`), malformed),
  )

  const extended = chunk(body).replace('\r\n', `;${smuggled.replaceAll('\r\n', ' ')}\r\n`)
  test.each<Refusal>([
    ['a length that covers a second request', post(smuggled), { error: 'malformed_json' }],
    ['a request in a chunk extension', postChunks(extended + LAST_CHUNK), malformed, 'lingering'],
  ])('%s', (_claim, ...refusal) => server.refuses(...refusal))

  test('a request inside a name is text', () => {
    const name = `a\r\n\r\n${smuggled.replace(token.text, 'x')}`
    return server.accepts(post(JSON.stringify({ id: 1, name })), { id: 1n, name })
  })

  test('an unknown header that looks like Transfer-Encoding frames nothing', () =>
    server.accepts(withLines('Transfer_Encoding: chunked')))
})

describe('a body that is not as long as it says', () => {
  test('is taken up to its length when it is longer, and the rest is no request', () =>
    server.check({
      sent: Buffer.concat([post(body), Buffer.from('{"id":2}')]),
      replies: [stored, malformed],
      stored: [plantOf(1)],
    }))

  test.each([
    ['it is shorter', framed(`Content-Length: ${length + 1}`)],
    ['its last chunk is missing', postChunks(chunk(body))],
  ])('stores nothing when %s and the caller ends', async (_claim, bytes) => {
    const caller = await server.open()
    caller.send(bytes)
    caller.finish()
    expectReply(await caller.readReply(), malformed)
    await server.expectStoredAndServing([])
  })
})

const asking = 'Expect: 100-continue'
const unfit = { error: 'expectation_failed', message: /100-continue/ } as const

/** The head of a request that asks before it sends its body. */
function askingHead(parts: RequestParts = {}): Buffer {
  return request({ framing: `Content-Length: ${length}`, more: [asking], ...parts, body: '' })
}

describe('with "Expect: 100-continue" a body is asked for', () => {
  test.each<[claim: string, parts: RequestParts, rest: string]>([
    ['by its length', {}, body],
    ['in chunks', { framing: 'Transfer-Encoding: chunked' }, chunked],
    ['with the expectation in capitals', { more: ['EXPECT: 100-CONTINUE'] }, body],
  ])('once its headers have passed, %s', async (_claim, parts, rest) => {
    const caller = await server.open()
    caller.send(askingHead(parts))
    expectReply(await caller.readReply(), 'continue')
    caller.send(rest)
    expectReply(await caller.readReply(), stored)
    await server.expectStoredAndServing([plantOf(1)])
  })

  const long = postChunks(inChunk('x'.repeat(70_000)), { more: [asking] })
  test.each([
    ['on a connection that goes on', withLines(asking), stored],
    ['and refused by what it holds', post('{}', { more: [asking] }), { error: 'invalid_plant' }],
    ['and refused by its length', long, { error: 'body_too_large' }],
  ] as const)('%s', (_claim, sent, response) => {
    const plants = 'plant' in response ? [plantOf(1)] : []
    return server.check({ sent, replies: ['continue', response], stored: plants })
  })

  // RFC 9110 §10.1.1: a 100-continue in HTTP/1.0 is ignored.
  test('never in HTTP/1.0', () =>
    server.accepts(request({ line: http10, more: [asking] }), plantOf(1), 'closed'))

  test.each<[claim: string, parts: RequestParts, error: ExpectedError]>([
    ['no credential', { authorization: null }, missing],
    ['a wrong credential', { authorization: 'Bearer x' }, { error: 'invalid_token' }],
    ['another path', { line: 'POST /other HTTP/1.1' }, { error: 'not_found' }],
    ['another method', { line: 'PUT /plants HTTP/1.1' }, wrongMethod],
    ['another media type', { contentType: 'text/plain' }, wantsJson],
    ['a content coding', { more: [asking, 'Content-Encoding: gzip'] }, wantsIdentity],
    ['a length over the limit', { framing: 'Content-Length: 65537' }, { error: 'body_too_large' }],
    ['two Hosts', { more: [asking, 'Host: other.test'] }, malformed],
    ['another version', { line: 'POST /plants HTTP/2.0' }, malformed],
  ])('never with %s', (_claim, parts, error) =>
    server.refuses(askingHead(parts), error, 'lingering'),
  )
})

describe('another expectation is refused:', () => {
  const forms = ['200-ok', '100', 'continue', 'x-continue', '100-continue; a=b']
  test.each([...forms, '100-continue, 200-ok', '100-continue\r\nExpect: 200-ok'])('%j', (value) =>
    server.refuses(withLines(`Expect: ${value}`), unfit),
  )
})

// Node's parser drops what follows such a request in one packet, on every version.
describe('an Upgrade is ignored, and the response is the last on its connection:', () => {
  const upgrade = ['Connection: Upgrade', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk']
  const follower = post(plantText(2))

  test.each([
    ['to a web socket', ['Connection: Upgrade', 'Upgrade: websocket']],
    ['to h2c', upgrade],
    ['without Connection', ['Upgrade: h2c']],
  ])('%s', (_claim, more) => server.accepts(request({ more }), plantOf(1), 'closed'))

  test('with a part of another request in its packet', async () => {
    const caller = await server.open()
    const release = await server.database.holdCommits()
    caller.send(Buffer.concat([request({ more: upgrade }), follower.subarray(0, 30)]))
    caller.send(follower.subarray(30))
    release()
    expectReply(await caller.readReply(), stored)
    expect(String(await caller.readToEnd())).toBe('')
    await server.expectStoredAndServing([plantOf(1)])
  })

  const asks = request({ more: [...upgrade, asking] })
  const refused = request({ more: upgrade, authorization: null })
  test.each([
    ['with another request in its packet', request({ more: upgrade }), [stored], [plantOf(1)]],
    ['with an expectation and another request', asks, ['continue', stored], [plantOf(1)]],
    ['a refused one too', refused, [missing], []],
  ] as const)('%s', (_claim, first, replies, plants) => {
    const sent = Buffer.concat([first, follower])
    return server.check({ sent, replies, stored: plants, connection: 'closed' })
  })

  test('the public page of the document too', async () => {
    const caller = await server.open()
    caller.send(`GET /openapi.json HTTP/1.1\r\nHost: a\r\n${upgrade.join('\r\n')}\r\n\r\n`)
    expect((await caller.readReply()).headers.get('connection')).toEqual(['close'])
    expect(String(await caller.readToEnd())).toBe('')
  })
})
