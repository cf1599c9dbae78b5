import { describe, expect, test } from 'vitest'
import { expectReply, headerOf, malformed } from './expectations.ts'
import { type Refusal, useWireServer } from './harness.ts'
import { plantOf, post, postChunks, request, withLines } from './request.ts'

const server = useWireServer()

const http10 = 'POST /plants HTTP/1.0'

describe.each(
  Object.entries({
    'a control character in a value': ['X: a\0b', 'X: a\x01b', 'X: a\x08b', 'X: a\x7fb'],
    'half a line end in a value': ['X: a\rb', 'X: a\nb', 'X: a\nY: b'],
    'a folded value': ['X: a\r\n folded', 'X: a\r\n\tfolded'],
    'a blank before its colon': ['X : a', 'X\t: a'],
    'a part missing': ['X', ': a'],
    'a name that is no token': ['X\0: a', 'X(a): b', 'X a: b', 'X\xe9: a'],
  }),
)('a header line with %s is refused:', (_theme, lines) => {
  test.each(lines)('%j', (line) => server.refuses(withLines(line), malformed))
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

describe.each(
  Object.entries({
    'more than a host': ['plants.test/plants', 'plants.test?', 'plants.test#a'],
    'a user': ['user@plants.test', 'user:password@plants.test'],
    'a port that is none': ['plants.test:port', 'plants.test:80:80', 'plants.test:-1'],
    'a character that no host has': [
      'a b',
      'plants\\test',
      '<plants>',
      '"plants"',
      'pl\xe4nts.test',
    ],
    // RFC 3986 §3.2.2
    'no IPv6 address': ['[]', '[plants.test]', '[::1]x', '[1]', '[:::::]'],
    'half a pair of brackets': ['::1', '[::1', '::1]'],
    'a percent-encoding that is none': ['plants%zz'],
  }),
)('a Host with %s is refused:', (_theme, hosts) => {
  test.each(hosts)('%s', (host) => server.refuses(request({ host }), malformed))
})

describe.each(
  Object.entries({
    name: ['localhost', 'PLANTS.test.', 'plants_test', 'pl%C3%A4nts.test'],
    'name and port': ['plants.test:', 'xn--plnts-hra.test:65535', '127.0.0.1:3000'],
    'IPv6 address': ['[::1]', '[::1]:3000', '[2001:DB8::1]:80'],
  }),
)('any host is served, by its %s:', (_theme, hosts) => {
  test.each(hosts)('%s', (host) => server.accepts(request({ host })))
})

describe('a header that is none of the business of the service changes nothing:', () => {
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
  ])('%s', (...lines) => server.accepts(withLines(...lines)))
})

describe('the connection', () => {
  test('is kept after 20 responses of every kind', async () => {
    const caller = await server.open()
    for (let round = 0; round < 5; round++) {
      for (const bytes of [request(), post('{'), post('{}'), request({ authorization: null })]) {
        caller.send(bytes)
        expect(headerOf(await caller.readReply(), 'connection')).toBe('keep-alive')
      }
    }
    await server.expectStoredAndServing([plantOf(1)])
  })

  test.each([
    ['"Connection: close"', withLines('Connection: close')],
    ['"Connection: close" among others', withLines('Connection: x, Close')],
    ['HTTP/1.0', request({ line: http10 })],
    ['HTTP/1.0 without a Host', request({ line: http10, host: null })],
  ])('is closed after %s', (_claim, bytes) => server.accepts(bytes, plantOf(1), 'closed'))

  test('is closed after an error that the caller wanted to be the last', () =>
    server.refuses(
      post('{', { more: ['Connection: close'] }),
      { error: 'malformed_json' },
      'closed',
    ))

  test('serves a caller that has finished sending', async () => {
    const caller = await server.open()
    caller.send(request())
    caller.finish()
    expectReply(await caller.readReply(), { plant: { name: plantOf(1).name } })
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

  test.each([
    ['without a request id'],
    ['for an empty one', 'X-Request-Id: '],
    ['for 129 characters', `X-Request-Id: ${'x'.repeat(129)}`],
    ['for a space within', 'X-Request-Id: a b'],
    ['for a slash', 'X-Request-Id: a/b'],
    ['for a comma', 'X-Request-Id: a,b'],
    ['for a quote', 'X-Request-Id: "a"'],
    ['for markup', 'X-Request-Id: <script>'],
    ['for letters beyond ASCII', 'X-Request-Id: \xe9'],
    ['for a token', `X-Request-Id: plant_0123456789ab_${'x'.repeat(51)}`],
    ['for a token among other words', 'X-Request-Id: Bearer_PLANT_0123456789ab_x'],
    ['for a JWT', 'X-Request-Id: eyJhbGciOiJFUzI1NiJ9.e30.AAAA'],
    ['for two of them', 'X-Request-Id: a', 'X-Request-Id: b'],
    ['for twice the same', 'X-Request-Id: a', 'X-Request-Id: a'],
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
