import { describe, expect, test } from 'vitest'
import { expectReply, headerOf } from './expectations.ts'
import { useWireServer } from './harness.ts'
import { plantOf, plantText, post, request } from './request.ts'

const server = useWireServer()

const malformed = { error: 'malformed_request' } as const
const body = plantText(1)

describe('what forms no HTTP/1.1 header is refused:', () => {
  test.each<[claim: string, line: string]>([
    ['a NUL in a value', 'X: a\0b'],
    ['a NUL in a name', 'X\0: a'],
    ['a control character in a value', 'X: a\x01b'],
    ['a backspace in a value', 'X: a\x08b'],
    ['U+007F in a value', 'X: a\x7fb'],
    ['a return in a value', 'X: a\rb'],
    ['a line feed in a value', 'X: a\nb'],
    ['a header after a line feed alone', 'X: a\nY: b'],
    ['a folded value', 'X: a\r\n folded'],
    ['a value folded by a tab', 'X: a\r\n\tfolded'],
    ['a space before the colon', 'X : a'],
    ['a tab before the colon', 'X\t: a'],
    ['a line without a colon', 'X'],
    ['a line without a name', ': a'],
    ['a bracket in a name', 'X(a): b'],
    ['a space in a name', 'X a: b'],
    ['a letter beyond ASCII in a name', 'X\xe9: a'],
  ])('%s', (_claim, line) => server.refuses(post(body, { more: [line] }), malformed, 'closed'))

  test('a folded first header', () =>
    server.refuses(`POST /plants HTTP/1.1\r\n Host: plants.test\r\n\r\n`, malformed, 'closed'))

  test('line feeds alone everywhere', () => {
    const bytes = String(post(body)).replaceAll('\r\n', '\n')
    return server.refuses(bytes, malformed, 'closed')
  })

  test('returns alone everywhere', () => {
    const bytes = String(post(body)).replaceAll('\r\n', '\r')
    return server.refuses(bytes, malformed, 'closed')
  })
})

describe('a Host that is missing, doubled or no host is refused:', () => {
  test('none', () => server.refuses(post(body, { host: null }), malformed, 'closed'))

  test.each<[second: string]>([['plants.test'], ['other.test'], ['']])(
    'a second one, %j',
    (second) => server.refuses(post(body, { more: [`Host: ${second}`] }), malformed, 'closed'),
  )

  test.each<[host: string]>([
    ['a b'],
    ['plants.test/plants'],
    ['user@plants.test'],
    ['user:password@plants.test'],
    ['plants.test:port'],
    ['plants.test:80:80'],
    ['plants.test:-1'],
    ['plants.test?'],
    ['plants.test#a'],
    ['plants\\test'],
    ['<plants>'],
    ['"plants"'],
    ['pl\xe4nts.test'],
    ['::1'],
    ['[::1'],
    ['::1]'],
    ['[]'],
    ['[plants.test]'],
    ['[::1]x'],
    // RFC 3986 §3.2.2: no IPv6 address, and no percent-encoding.
    ['[1]'],
    ['[:::::]'],
    ['plants%zz'],
  ])('%s', (host) => server.refuses(post(body, { host }), malformed, 'closed'))

  test('two in HTTP/1.0', () => {
    const parts = { line: 'POST /plants HTTP/1.0', more: ['Host: other.test'] }
    return server.refuses(post(body, parts), malformed, 'closed')
  })

  test('before the credential is looked at', () =>
    server.refuses(post(body, { host: 'a b', authorization: null }), malformed, 'closed'))
})

describe('any host is served:', () => {
  test.each<[host: string]>([
    ['localhost'],
    ['127.0.0.1:3000'],
    ['[::1]'],
    ['[::1]:3000'],
    ['[2001:DB8::1]:80'],
    ['PLANTS.test.'],
    ['plants.test:'],
    ['plants_test'],
    ['pl%C3%A4nts.test'],
    ['xn--plnts-hra.test:65535'],
  ])('%s', (host) => server.accepts(post(body, { host }), plantOf(1)))
})

describe('a header that is none of the business of the service changes nothing:', () => {
  test.each<[claim: string, lines: string[]]>([
    ['X-HTTP-Method-Override', ['X-HTTP-Method-Override: DELETE', 'X-Method-Override: GET']],
    ['X-Forwarded', ['X-Forwarded-For: 1.2.3.4', 'X-Forwarded-Host: a', 'X-Forwarded-Proto: b']],
    ['Forwarded', ['Forwarded: for=1.2.3.4;host=a;proto=https']],
    ['another URL', ['X-Original-URL: /admin', 'X-Rewrite-URL: /admin']],
    ['Origin', ['Origin: https://evil.test', 'Sec-Fetch-Mode: cors']],
    ['Cookie', ['Cookie: a=b; c=d']],
    ['Range', ['Range: bytes=0-1']],
    ['If-None-Match', ['If-None-Match: *', 'If-Match: "a"']],
    ['Idempotency-Key', ['Idempotency-Key: "a"']],
    ['TE', ['TE: trailers, gzip', 'Connection: TE']],
    ['Trailer', ['Trailer: Authorization']],
    ['a value beyond ASCII', ['X: \xe9\xff']],
    ['an empty value', ['X:', 'Y: ']],
    ['names of methods', ['constructor: a', '__proto__: b', 'toString: c']],
    ['a name of every token character', ["!#$%&'*+-.^_`|~09azAZ: a"]],
  ])('%s', (_claim, more) => server.accepts(post(body, { more }), plantOf(1)))
})

describe('the connection', () => {
  test('is kept after 20 answers of every kind', async () => {
    const caller = await server.open()
    for (let round = 0; round < 5; round++) {
      for (const bytes of [post(body), post('{'), post('{}'), request({ authorization: null })]) {
        caller.send(bytes)
        const reply = await caller.readReply()
        expect(headerOf(reply, 'connection')).toBe('keep-alive')
      }
    }
    await server.expectStoredAndServing([plantOf(1)])
  })

  test.each<[claim: string, more: string[]]>([
    ['close', ['Connection: close']],
    ['Close among others', ['Connection: x, Close']],
  ])('is closed after "Connection: %s"', (_claim, more) =>
    server.accepts(post(body, { more }), plantOf(1), 'closed'),
  )

  test('is closed after an error that the caller wanted to be the last', () =>
    server.refuses(
      post('{', { more: ['Connection: close'] }),
      { error: 'malformed_json' },
      'closed',
    ))

  test('is closed after HTTP/1.0', () =>
    server.accepts(post(body, { line: 'POST /plants HTTP/1.0' }), plantOf(1), 'closed'))

  test('may be HTTP/1.0 without a Host', () =>
    server.accepts(post(body, { line: 'POST /plants HTTP/1.0', host: null }), plantOf(1), 'closed'))

  test('answers a caller that has finished sending', async () => {
    const caller = await server.open()
    caller.send(post(body))
    caller.finish()
    expectReply(await caller.readReply(), { plant: { name: plantOf(1).name } })
    expect(String(await caller.readToEnd())).toBe('')
    await server.expectStoredAndServing([plantOf(1)])
  })
})
