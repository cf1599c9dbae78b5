import { describe, expect, test } from 'vitest'
import { expectReply, malformed, wrongMethod } from './expectations.ts'
import { eachOf, type Refusal, useWireServer } from './harness.ts'
import { plantText, post, request, token } from './request.ts'

const server = useWireServer()

const notFound = { error: 'not_found', message: /^there is nothing at this path$/ } as const

/** A good request but for its first line. */
const atLine = (line: string) => request({ line })
const atTarget = (target: string) => atLine(`POST ${target} HTTP/1.1`)

describe('another method on /plants is refused with Allow: POST:', () => {
  const standard = ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']
  const rare = ['QUERY', 'PROPFIND', 'M-SEARCH', 'LINK', 'SOURCE']
  test.each([...standard, ...rare])('%s', (method) =>
    server.refuses(atLine(`${method} /plants HTTP/1.1`), wrongMethod),
  )

  const line = 'GET /plants HTTP/1.1'
  test.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])(
    'GET with %s',
    (name) => server.refuses(request({ line, more: [`${name}: POST`] }), wrongMethod),
  )

  const head = request({ line: 'HEAD /plants HTTP/1.1', body: '' })
  const trace = request({ line: 'TRACE /plants HTTP/1.1', more: [`Cookie: ${token.text}`] })
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  const brokenPut = { line: 'PUT /plants HTTP/1.1', contentType: 'text/plain', body: '{' }
  test.each<Refusal>([
    ['HEAD, whose response has no body', head, { ...wrongMethod, hasBody: false }],
    ['_method in the query', atLine('GET /plants?_method=POST HTTP/1.1'), wrongMethod],
    ['a web socket', request({ line, more: upgrade, body: '' }), wrongMethod, 'closed'],
    ['before the media type and the JSON are looked at', request(brokenPut), wrongMethod],
    ['TRACE, which echoes nothing', trace, { ...wrongMethod, message: /^[ :,\w]{1,60}$/ }],
  ])('%s', (_claim, ...refusal) => server.refuses(...refusal))
})

test.each(['FOO', 'POSTS', 'post', 'Post', 'POST\0', 'PO ST', ' POST', '\tPOST', 'CONNECT'])(
  'a request line with the method %j is refused',
  (method) =>
    server.refuses(atLine(`${method} /plants HTTP/1.1`), {
      ...malformed,
      message: /method|CONNECT/,
    }),
)

eachOf('a request line with %s is refused:', (line) => server.refuses(atLine(line), malformed), {
  'another version': ['2.0', '3.0', '0.9', '1.2', '9.9'].map((one) => `POST /plants HTTP/${one}`),
  'a version of another form': ['2', '1', '1.10', '01.1', '-1.1', '1.1 x'].map(
    (one) => `POST /plants HTTP/${one}`,
  ),
  'another protocol': ['POST /plants HTTPS/1.1', 'POST /plants http/1.1', 'POST /plants '],
  'a part missing': ['POST  HTTP/1.1', 'POST /plants', 'POST', '/plants'],
  'a tab': ['POST /plants\tHTTP/1.1'],
  'no path': ['CONNECT plants.test:443 HTTP/1.1', 'PRI * HTTP/2.0'],
})

describe('what is no request is refused:', () => {
  test.each<[claim: string, bytes: string | Buffer]>([
    ['a TLS hello', Buffer.from('16030100b8010000b40303', 'hex')],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['binary junk', Buffer.from('00ff0102fefd0d0a0d0a', 'hex')],
    ['an SSH greeting', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['an SMTP greeting', 'EHLO plants.test\r\n'],
    ['a response instead of a request', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['a proxy line', `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${post(plantText(1))}`],
    ['JSON alone', plantText(1)],
  ])('%s', (_claim, bytes) => server.refuses(bytes, malformed))

  test('an empty line before a request is ignored (RFC 9112 §2.2)', () =>
    server.accepts(`\r\n${post(plantText(1))}`))
})

eachOf('a path %s is not found:', (target) => server.refuses(atTarget(target), notFound), {
  'in another spelling': ['/plants/', '/Plants', '/PLANTS', '/plant', '/plantsx', '//plants'],
  'of a plant': ['/plants/1', '/plants/7?x=1'],
  'with dots': ['/./plants', '/plants/.', '/a/../plants', '//other.test/plants'],
  'in escapes': ['/%70lants', '/plants%2f', '/%2fplants'],
  'with blanks in escapes': ['/plants%00', '/plants%20', '/plants%0d%0aX:%20a'],
  'in escapes that are none': ['/%zz', '/%', '/%ff', '/%c0%af'],
  'with parameters': ['/plants;a=1', '/plants&a'],
  'of something else': ['/', '/v1/plants', '/livez', '/metrics', `/${'a'.repeat(8_000)}`],
  'of names in JavaScript and Express': ['/__proto__', '/*', '/:id'],
  'of another target': ['http://plants.test', 'http://plants.test/', 'http://plants.test/plants/'],
})

describe('another path is not found for any method:', () => {
  const head = request({ line: 'HEAD /other HTTP/1.1', body: '' })
  const broken = post('{', { line: 'POST /other HTTP/1.1', contentType: 'text/plain' })
  test.each(['GET /other', 'PUT /other', 'DELETE /other', 'TRACE /other', 'OPTIONS *'])(
    '%s',
    (line) => server.refuses(atLine(`${line} HTTP/1.1`), notFound),
  )

  test.each<Refusal>([
    ['HEAD, whose response has no body', head, { ...notFound, hasBody: false }],
    ['before the media type and the JSON are looked at', broken, notFound],
  ])('%s', (_claim, ...refusal) => server.refuses(...refusal))
})

eachOf('a target %s is refused:', (target) => server.refuses(atTarget(target), malformed), {
  'without a slash': ['plants', './plants', '\\plants', '?x=1'],
  'with a fragment': ['/plants#f', '#f', 'http://plants.test/plants#f'],
  'of another scheme': ['ftp://plants.test/plants', 'file:///plants', 'javascript:alert(1)'],
  'of an authority': ['plants.test:80'],
  'with bare characters': ['/plants x', '/plants\0', '/plants\x7f', 'http://a b/plants'],
  'beyond ASCII': ['/pl\xe4nts', '/plants?q=\xff'],
  // RFC 9110 §4.2.1: an http URI with an empty host must be rejected.
  'with an empty host': ['http:///plants'],
})

eachOf('the one operation is found %s:', (target) => server.accepts(atTarget(target)), {
  'by itself': ['/plants'],
  'with any query': ['/plants?', '/plants?x=1', '/plants?id=9&name=other', '/plants??/other'],
  'with a query that is none': ['/plants?%zz', `/plants?${'a'.repeat(8_000)}`],
  'with __proto__ in it': ['/plants?x=1&x=2&__proto__[a]=b', '/plants?__proto__=a&__proto__=b'],
  'by a URL': ['http://plants.test/plants', 'HTTP://plants.test/plants?x=1'],
  'by another URL': ['https://plants.test/plants', 'http://other.test:81/plants'],
  'by a URL of an IPv6 address': ['http://[::1]:3000/plants'],
})

describe.each(['port', 'operationsPort'] as const)('on the listener of the %s', (listener) => {
  // Their authority is no host; Node's url.parse throws on the first eight.
  const unclosed = ['http://[', 'http://[/', 'http://[/plants', 'http://[::1/plants']
  const strange = ['http://a]b/plants', 'http://[v1.a]/livez', 'http://a^b/livez']
  const zoned = ['http://[fe80::1%25lo]/plants']
  const empty = ['http://@/plants', 'http://:80/plants', 'http://?x']
  const withUser = ['http://a@b/plants', 'http://a:b@c/livez', 'http://a:b/livez']
  const targets = [...unclosed, ...strange, ...zoned, ...empty, ...withUser]
  const chunked = 'Host: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'

  describe.each([
    ['', 'GET', 'Host: a\r\n\r\n'],
    ['before a body that never comes', 'POST', 'Host: a\r\nContent-Length: 9\r\n\r\n'],
    ['once, though it has a broken chunk', 'POST', chunked],
  ])('a target without a host is refused %s', (_claim, method, rest) => {
    test.each(targets)('%s', (target) => {
      const sent = `${method} ${target} HTTP/1.1\r\n${rest}`
      const port = server[listener]
      return server.check({ port, sent, replies: [malformed], connection: 'lingering' })
    })
  })

  test('one whose caller goes away before its body came leaves the server serving', async () => {
    const caller = await server.open(server[listener])
    caller.send('POST http://[/plants HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n')
    caller.finish()
    expectReply(await caller.readReply(), malformed)
    caller.reset()
    await server.expectStoredAndServing([])
  })

  test('one that never had its turn is refused in its turn', async () => {
    const caller = await server.open(server[listener])
    caller.send(
      `GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\nPOST http://[/ HTTP/1.1\r\n${chunked}`,
    )
    expect([401, 404]).toContain((await caller.readReply()).status)
    expectReply(await caller.readReply(), malformed)
    await server.expectStoredAndServing([])
  })
})

test.each(['/livez', '/readyz', '/metrics'])(
  'a broken body is no error of %s, be it answered before or after it was read',
  async (path) => {
    const caller = await server.open(server.operationsPort)
    caller.send(`GET ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`)
    expect([200, 400]).toContain((await caller.readReply()).status)
    await caller.readToEnd()
    expect((await server.readLog()).join('')).not.toContain('"level":"error"')
  },
)

test('a host with escapes, which url.parse refuses, is a host (RFC 3986 §3.2.2)', async () => {
  const caller = await server.open(server.operationsPort)
  caller.send('GET http://%61:/livez?x HTTP/1.1\r\nHost: localhost\r\n\r\n')
  expect((await caller.readReply()).status).toBe(200)
})

test('what was refused is logged by its path alone', async () => {
  await server.ask('GET http://user:pass@a/there?query HTTP/1.1\r\nHost: a\r\n\r\n')
  const [line = '{}'] = await server.readLog()
  expect(JSON.parse(line)).toMatchObject({ error: 'malformed_request', path: '/there' })
  expect(line).not.toMatch(/user|pass|query/)
})
