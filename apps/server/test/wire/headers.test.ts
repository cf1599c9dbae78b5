import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  expectReply,
  headerOf,
  malformed,
  stored,
  wantsIdentity,
  wantsJson,
} from './expectations.ts'
import { eachOf, type Refusal, useWireServer } from './harness.ts'
import { chunk, plantOf, plantText, post, postChunks, request, withLines } from './request.ts'

const server = useWireServer()

const http10 = 'POST /plants HTTP/1.0'

eachOf('a header line with %s is refused:', (line) => server.refuses(withLines(line), malformed), {
  'a control character in a value': ['X: a\0b', 'X: a\x01b', 'X: a\x08b', 'X: a\x7fb'],
  'half a line end in a value': ['X: a\rb', 'X: a\nb', 'X: a\nY: b'],
  'a folded value': ['X: a\r\n folded', 'X: a\r\n\tfolded'],
  'a blank before its colon': ['X : a', 'X\t: a'],
  'a part missing': ['X', ': a'],
  'a name that is no token': ['X\0: a', 'X(a): b', 'X a: b', 'X\xe9: a'],
})

describe('what forms no HTTP/1.1 headers is refused:', () => {
  const text = String(request())
  test.each<Refusal>([
    ['a folded first line', 'POST /plants HTTP/1.1\r\n Host: plants.test\r\n\r\n', malformed],
    ['line feeds alone everywhere', text.replaceAll('\r\n', '\n'), malformed],
    ['returns alone everywhere', text.replaceAll('\r\n', '\r'), malformed],
    ['no Host', request({ host: null }), malformed],
    ['two Hosts', withLines('Host: other.test'), malformed],
    ['twice the same Host', withLines('Host: plants.test'), malformed],
    ['a Host and an empty one', withLines('Host: '), malformed],
    ['two Hosts in HTTP/1.0', request({ line: http10, more: ['Host: other.test'] }), malformed],
    ['no Host, before the credential', request({ host: 'a b', authorization: null }), malformed],
  ])('%s', (_claim, ...refusal) => server.refuses(...refusal))
})

eachOf('a Host with %s is refused:', (host) => server.refuses(request({ host }), malformed), {
  'more than a host': ['plants.test/plants', 'plants.test?', 'plants.test#a'],
  'a user': ['user@plants.test', 'user:password@plants.test'],
  'a port that is none': ['plants.test:port', 'plants.test:80:80', 'plants.test:-1'],
  'a strange character': ['a b', 'plants\\test', '<plants>', '"plants"', 'pl\xe4nts.test'],
  // RFC 3986 §3.2.2
  'no IPv6 address': ['[]', '[plants.test]', '[::1]x', '[1]', '[:::::]'],
  'half a pair of brackets': ['::1', '[::1', '::1]'],
  'a percent-encoding that is none': ['plants%zz'],
})

eachOf('any host is served, by its %s:', (host) => server.accepts(request({ host })), {
  name: ['localhost', 'PLANTS.test.', 'plants_test', 'pl%C3%A4nts.test'],
  'name and port': ['plants.test:', 'xn--plnts-hra.test:65535', '127.0.0.1:3000'],
  'IPv6 address': ['[::1]', '[::1]:3000', '[2001:DB8::1]:80'],
})

test.each([
  ['X-HTTP-Method-Override: DELETE', 'X-Method-Override: GET'],
  ['X-Forwarded-For: 1.2.3.4', 'X-Forwarded-Host: a', 'X-Forwarded-Proto: b'],
  ['Forwarded: for=1.2.3.4;host=a;proto=https'],
  ['X-Original-URL: /admin', 'X-Rewrite-URL: /admin'],
  ['Origin: https://evil.test', 'Sec-Fetch-Mode: cors'],
  ['Cookie: a=b; c=d'],
  ['Range: bytes=0-1'],
  ['If-None-Match: *', 'If-Match: "a"'],
  ['Idempotency-Key: "a"'],
  ['TE: trailers, gzip', 'Connection: TE'],
  ['Trailer: Authorization'],
  ['X: \xe9\xff'],
  ['X:', 'Y: '],
  ['constructor: a', '__proto__: b', 'toString: c'],
  ["!#$%&'*+-.^_`|~09azAZ: a"],
  ['Accept: application/xml'],
  ['Accept: */*;q=0'],
  ['Accept: text/html, */*;q=0.1'],
  ['Accept: '],
])('a header that is none of the business of the service changes nothing: %s', (...lines) =>
  server.accepts(withLines(...lines)),
)

describe('the connection', () => {
  test.each([
    ['"Connection: close"', withLines('Connection: close')],
    ['"Connection: close" among others', withLines('Connection: x, Close')],
    ['HTTP/1.0', request({ line: http10 })],
    ['HTTP/1.0 without a Host', request({ line: http10, host: null })],
  ])('is closed after %s', (_claim, bytes) => server.accepts(bytes, plantOf(1), 'closed'))

  test('serves a caller that has finished sending', async () => {
    const release = await server.database.holdCommits()
    const caller = await server.open()
    caller.send(request())
    caller.finish()
    await server.quiesce()
    release()
    expectReply(await caller.readReply(), stored)
    expect(String(await caller.readToEnd())).toBe('')
    await server.expectStoredAndServing([plantOf(1)])
  })
})

describe('the request id of the caller is sent back:', () => {
  test.each([
    ...['a', '.', 'AZaz09._-', 'x'.repeat(128), '0190163d-8694-739b-aea5-966c26f8ad91', 'abc  '],
  ])('%s', async (id) => {
    const response = await server.ask(withLines(`X-Request-Id: ${id}`))
    expect(headerOf(response, 'x-request-id')).toBe(id.trim())
  })

  const more = ['X-Request-ID: of-the-caller']
  const line = { json: 'POST / HTTP/1.1', get: 'GET /plants HTTP/1.1' }

  test.each([
    ['a 400 by its JSON', post('{', { more }), 400],
    ['a 400 by its plant', post('{}', { more }), 400],
    ['a 400 by its framing', withLines(...more, 'Host: a'), 400],
    ['a 400 by a broken chunk', postChunks('zz\r\n', { more }), 400],
    ['a 401', request({ authorization: null, more }), 401],
    ['a 404', request({ line: line.json, more }), 404],
    ['a 405', request({ line: line.get, more }), 405],
    ['a 413', request({ framing: 'Content-Length: 70000', body: '', more }), 413],
    ['a 415', request({ contentType: null, more }), 415],
    ['a 417', withLines(...more, 'Expect: a'), 417],
  ])('with %s, and is in the line of the log', async (_claim, bytes, status) => {
    const response = await server.ask(bytes)
    expect(response.status).toBe(status)
    expect(headerOf(response, 'x-request-id')).toBe('of-the-caller')
    const lines = (await server.readLog()).map((text) => JSON.parse(text))
    expect(lines).toContainEqual(expect.objectContaining({ requestId: 'of-the-caller', status }))
  })
})

describe('a fresh UUID is sent', () => {
  const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

  const id = (value: string) => `X-Request-Id: ${value}`
  test.each([
    ['without a request id'],
    ['for an empty one', id('')],
    ['for 129 characters', id('x'.repeat(129))],
    ...['a b', 'a/b', 'a,b', '"a"', '<script>', '\xe9'].map((text) => [`for ${text}`, id(text)]),
    ['for a token', id(`plant_0123456789ab_${'x'.repeat(51)}`)],
    ['for a token among other words', id('Bearer_PLANT_0123456789ab_x')],
    ['for a JWT', id('eyJhbGciOiJFUzI1NiJ9.e30.AAAA')],
    ['for two of them', id('a'), id('b')],
    ['for twice the same', id('a'), id('a')],
  ])('%s', async (_claim, ...lines) => {
    const ids = [await server.ask(withLines(...lines)), await server.ask(withLines(...lines))]
    const [first, second] = ids.map((response) => headerOf(response, 'x-request-id'))
    expect([first, second]).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)])
    expect(second).not.toBe(first)
  })

  test.each([
    ['bytes that are no request', 'garbage\r\n\r\n', 0],
    ['garbage after a request of its own', `${withLines('X-Request-Id: first')}garbage`, 1],
  ])('for %s', async (_claim, bytes, before) => {
    const caller = await server.open()
    caller.send(bytes)
    for (let count = 0; count < before; count++) await caller.readReply()
    expect(headerOf(await caller.readReply(), 'x-request-id')).toMatch(UUID)
  })
})

const plant = plantText(1)
const json = (parameters: string) => `application/json${parameters}`
const coded = (coding: string, body: string | Uint8Array = plant) =>
  post(body, { more: [`Content-Encoding: ${coding}`] })

eachOf(
  'JSON in UTF-8 is accepted, %s:',
  (contentType) => server.accepts(request({ contentType })),
  {
    'in any case': [json(''), 'APPLICATION/JSON', 'Application/Json'],
    'with blanks': [json('; charset=utf-8'), json(';charset=utf-8'), json(' ; charset=utf-8')],
    'with blanks around': ['  application/json  ', json(';')],
    'with a charset in any case': [json('; charset=UTF-8'), json('; CHARSET=Utf-8')],
    'with a quoted charset': [json('; charset="utf-8"'), json('; charset="UTF-8"')],
    'with other parameters': [json('; version=1'), json('; version=1; charset=utf-8')],
    'with a quoted parameter': [json('; version="a;\\"b"; charset="utf-8"')],
  },
)

eachOf('refused are %s:', (contentType) => server.refuses(request({ contentType }), wantsJson), {
  'other media types': ['text/plain', 'text/json', 'application/octet-stream'],
  'types of forms': ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
  'kinds of JSON': ['application/vnd.api+json', 'application/problem+json', json('+x')],
  'names that are longer': [json('x'), json('5'), 'application/x-ndjson', json('/x')],
  'parts of a name': ['application', 'json', ';', ''],
  wildcards: ['*/*', 'application/*'],
  lists: ['application /json', json(' text/plain'), json(', text/plain'), json(', */*')],
  'JSON as a parameter': ['text/plain; application/json', 'text/plain; x="application/json"'],
  'charsets of bytes': [json('; charset=iso-8859-1'), json('; charset=us-ascii')],
  'UTF-16': [json('; charset=utf-16'), json('; charset=utf-16le')],
  'UTF-7': [json('; charset=utf-7')],
  'misspelled charsets': [json('; charset=utf8'), json('; charset=utf-8x'), json('; charset=""')],
  'quoted charsets': [json('; charset="utf-16"'), json('; x="; charset=utf-16')],
  'open quotes': [json('; charset="utf-16'), json('; charset="utf-16\\"')],
  'an open quote of UTF-8': [json('; charset="utf-8')],
  'two charsets': [json('; charset=utf-16; charset=utf-8')],
  'two in another order': [json('; charset=utf-8; charset=utf-16')],
  'charsets behind another': [json('; x=1; charset=utf-16')],
})

describe('a media type is refused:', () => {
  const utf16 = Buffer.from(`\ufeff${plant}`, 'utf16le')
  const plain = { contentType: 'text/plain' }
  const message = /^the request must have one content-type header$/
  test.each<Refusal>([
    ['none', request({ contentType: null }), wantsJson],
    ['UTF-16 of UTF-16', post(utf16, { contentType: json('; charset=utf-16') }), wantsJson],
    ['twice the same', withLines('Content-Type: application/json'), { ...wantsJson, message }],
    ['two', withLines('Content-Type: text/plain'), { ...wantsJson, message }],
    ['one and an empty one', withLines('Content-Type: '), wantsJson],
    [
      'two in another order',
      request({ ...plain, more: ['content-type: application/json'] }),
      wantsJson,
    ],
    ['before the size of the body', post('x'.repeat(70_000), plain), wantsJson, 'closed'],
    ['before the JSON', post('{', plain), wantsJson],
    ['without reading chunks', postChunks(chunk(plant), plain), wantsJson, 'lingering'],
  ])('%s', (_claim, ...refusal) => server.refuses(...refusal))
})

describe('a body with a content coding is refused:', () => {
  test.each<Refusal>([
    ['gzip', coded('gzip', gzipSync(plant)), wantsIdentity],
    ['x-gzip', coded('x-gzip', gzipSync(plant)), wantsIdentity],
    ['deflate', coded('deflate', deflateSync(plant)), wantsIdentity],
    ['br', coded('br', brotliCompressSync(plant)), wantsIdentity],
    ['gzip, gzip', coded('gzip, gzip', gzipSync(gzipSync(plant))), wantsIdentity],
    ['GZIP', coded('GZIP', gzipSync(plant)), wantsIdentity],
    ['a gzip bomb of 10 MB', coded('gzip', gzipSync(Buffer.alloc(10_000_000))), wantsIdentity],
    [
      'gzip that does not say so',
      post(gzipSync(plant)),
      { error: 'malformed_json', message: /UTF-8/ },
    ],
  ])('%s', (_claim, ...refusal) => server.refuses(...refusal))

  test.each(['gzip', 'identity', 'zstd', 'aws-chunked', 'x'])('%s, though it is plain', (coding) =>
    server.refuses(coded(coding), wantsIdentity),
  )
})
