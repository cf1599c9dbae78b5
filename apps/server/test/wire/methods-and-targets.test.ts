import { describe, test } from 'vitest'
import { useWireServer } from './harness.ts'
import { plantOf, plantText, post, request, token } from './request.ts'

const server = useWireServer()

const malformed = { error: 'malformed_request' } as const
const notFound = { error: 'not_found', message: /^there is nothing at this path$/ } as const

describe('another method on /plants is refused with Allow: POST:', () => {
  test.each<[method: string]>([
    ['GET'],
    ['PUT'],
    ['PATCH'],
    ['DELETE'],
    ['OPTIONS'],
    ['TRACE'],
    ['QUERY'],
    ['PROPFIND'],
    ['M-SEARCH'],
    ['LINK'],
    ['SOURCE'],
  ])('%s', (method) =>
    server.refuses(request({ line: `${method} /plants HTTP/1.1` }), {
      error: 'method_not_allowed',
    }),
  )

  test('HEAD, whose reply has no body', () =>
    server.refuses(request({ line: 'HEAD /plants HTTP/1.1', body: '' }), {
      error: 'method_not_allowed',
      hasBody: false,
    }))

  test.each<[header: string]>([
    ['X-HTTP-Method-Override: POST'],
    ['X-HTTP-Method: POST'],
    ['X-Method-Override: POST'],
  ])('GET with %s', (header) =>
    server.refuses(request({ line: 'GET /plants HTTP/1.1', more: [header] }), {
      error: 'method_not_allowed',
    }),
  )

  test('GET with _method in the query', () =>
    server.refuses(request({ line: 'GET /plants?_method=POST HTTP/1.1' }), {
      error: 'method_not_allowed',
    }))

  test('GET that would upgrade to a web socket', () =>
    server.refuses(
      request({
        line: 'GET /plants HTTP/1.1',
        more: ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
        body: '',
      }),
      { error: 'method_not_allowed' },
      'closed',
    ))

  test('before the media type, the size and the JSON are looked at', () =>
    server.refuses(
      request({ line: 'PUT /plants HTTP/1.1', contentType: 'text/plain', body: '{' }),
      { error: 'method_not_allowed' },
    ))
})

describe('what is no method of HTTP is refused:', () => {
  test.each<[line: string]>([
    ['FOO /plants HTTP/1.1'],
    ['post /plants HTTP/1.1'],
    ['Post /plants HTTP/1.1'],
    ['POSTS /plants HTTP/1.1'],
    ['POST\0 /plants HTTP/1.1'],
    ['PO ST /plants HTTP/1.1'],
    ['CONNECT plants.test:443 HTTP/1.1'],
    ['CONNECT /plants HTTP/1.1'],
    ['PRI * HTTP/2.0'],
    [' POST /plants HTTP/1.1'],
    ['\tPOST /plants HTTP/1.1'],
  ])('%j', (line) => server.refuses(request({ line }), malformed, 'closed'))
})

describe('what is no request line of HTTP/1.0 or 1.1 is refused:', () => {
  test.each<[line: string]>([
    ['POST /plants HTTP/2.0'],
    ['POST /plants HTTP/2'],
    ['POST /plants HTTP/3.0'],
    ['POST /plants HTTP/0.9'],
    ['POST /plants HTTP/1.2'],
    ['POST /plants HTTP/9.9'],
    ['POST /plants HTTP/1'],
    ['POST /plants HTTP/1.10'],
    ['POST /plants HTTP/01.1'],
    ['POST /plants HTTP/-1.1'],
    ['POST /plants http/1.1'],
    ['POST /plants HTTPS/1.1'],
    ['POST /plants HTTP/1.1 x'],
    ['POST /plants\tHTTP/1.1'],
    ['POST  HTTP/1.1'],
    ['POST /plants'],
    ['POST'],
    ['/plants'],
  ])('%j', (line) => server.refuses(request({ line }), malformed, 'closed'))

  test.each<[claim: string, bytes: string | Buffer]>([
    ['a TLS hello', Buffer.from('16030100b8010000b40303', 'hex')],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['binary junk', Buffer.from('00ff0102fefd0d0a0d0a', 'hex')],
    ['an SSH greeting', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['an SMTP greeting', 'EHLO plants.test\r\n'],
    ['a reply instead of a request', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['a proxy line', `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${post(plantText(1))}`],
    ['JSON alone', plantText(1)],
  ])('%s', (_claim, bytes) => server.refuses(bytes, malformed, 'closed'))

  test('an empty line before a request is ignored (RFC 9112 §2.2)', () =>
    server.accepts(`\r\n${post(plantText(1))}`, plantOf(1)))
})

describe('another path is not found:', () => {
  test.each<[target: string]>([
    ['/'],
    ['/plants/'],
    ['/Plants'],
    ['/PLANTS'],
    ['/plant'],
    ['/plantsx'],
    ['/plants/1'],
    ['/plants/7?x=1'],
    ['//plants'],
    ['//other.test/plants'],
    ['/./plants'],
    ['/plants/.'],
    ['/a/../plants'],
    ['/%70lants'],
    ['/plants%2f'],
    ['/%2fplants'],
    ['/plants;a=1'],
    ['/plants%00'],
    ['/plants%20'],
    ['/plants%0d%0aX:%20a'],
    ['/%zz'],
    ['/%'],
    ['/%ff'],
    ['/%c0%af'],
    ['/plants&a'],
    ['/v1/plants'],
    ['/__proto__'],
    ['/livez'],
    ['/metrics'],
    ['/*'],
    ['/:id'],
    [`/${'a'.repeat(8_000)}`],
    ['http://plants.test'],
    ['http://plants.test/'],
    ['http://plants.test/plants/'],
  ])('%s', (target) => server.refuses(request({ line: `POST ${target} HTTP/1.1` }), notFound))

  test.each<[method: string]>([['GET'], ['PUT'], ['DELETE'], ['OPTIONS'], ['TRACE']])(
    'for %s as for POST',
    (method) => server.refuses(request({ line: `${method} /other HTTP/1.1` }), notFound),
  )

  test('for the whole server: OPTIONS *', () =>
    server.refuses(request({ line: 'OPTIONS * HTTP/1.1' }), notFound))

  test('HEAD, whose reply has no body', () =>
    server.refuses(request({ line: 'HEAD /other HTTP/1.1', body: '' }), {
      ...notFound,
      hasBody: false,
    }))

  test('before the media type and the JSON are looked at', () => {
    const parts = { line: 'POST /other HTTP/1.1', contentType: 'text/plain' }
    return server.refuses(post('{', parts), notFound)
  })
})

describe('what is no request target is refused:', () => {
  test.each<[target: string]>([
    ['plants'],
    ['./plants'],
    ['\\plants'],
    ['?x=1'],
    ['/plants#f'],
    ['#f'],
    ['http://plants.test/plants#f'],
    ['ftp://plants.test/plants'],
    ['file:///plants'],
    ['javascript:alert(1)'],
    ['plants.test:80'],
    ['/plants x'],
    ['/plants\0'],
    ['/pl\xe4nts'],
    ['/plants?q=\xff'],
    ['/plants\x7f'],
    ['http://a b/plants'],
    // RFC 9110 §4.2.1: an http URI with an empty host must be rejected.
    ['http:///plants'],
  ])('%j', (target) =>
    server.refuses(request({ line: `POST ${target} HTTP/1.1` }), malformed, 'closed'),
  )
})

describe('the one operation is found', () => {
  test.each<[target: string]>([
    ['/plants'],
    ['/plants?'],
    ['/plants?x=1'],
    ['/plants?x=1&x=2&__proto__[a]=b'],
    ['/plants?__proto__=a&__proto__=b'],
    ['/plants?%zz'],
    ['/plants?id=9&name=other'],
    ['/plants??/other'],
    [`/plants?${'a'.repeat(8_000)}`],
    ['http://plants.test/plants'],
    ['HTTP://plants.test/plants?x=1'],
    ['http://other.test:81/plants'],
    ['https://plants.test/plants'],
    ['http://[::1]:3000/plants'],
  ])('at %s', (target) => server.accepts(request({ line: `POST ${target} HTTP/1.1` }), plantOf(1)))
})

test('TRACE echoes nothing of the request', async () => {
  const secret = `Cookie: ${token.text}`
  await server.refuses(request({ line: 'TRACE /plants HTTP/1.1', more: [secret] }), {
    error: 'method_not_allowed',
    message: /^[ :,\w]{1,60}$/,
  })
})
