import fc from 'fast-check'

/** Stands for a credential that opens the service, so that an input can be shown to anybody. */
export const TOKEN = '<token>'

/** Mostly the first; else one of the others. */
export function mostly<Value>(good: Value, weight: number, ...others: fc.Arbitrary<Value>[]) {
  return fc.oneof(
    { weight, arbitrary: fc.constant(good) },
    ...others.map((arbitrary) => ({ weight: 1, arbitrary })),
  )
}

const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code))

/** Any bytes, as latin1. */
export function bytes(maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: byte, maxLength })
}

function oneOf(words: string, ...others: string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...words.split(' '), ...others)
}

/** Names that every object of JavaScript has. */
export const INHERITED = '__proto__ constructor prototype toString hasOwnProperty valueOf'

const method = oneOf('GET HEAD POST PUT DELETE OPTIONS TRACE CONNECT PRI SOURCE get')

const target = fc.oneof(
  oneOf(
    '/ /plants /openapi.json /openapi.yaml /openapi-3.0.json /docs /livez /readyz /metrics * // ? a:1 /% /%00 ' +
      '/../plants /plants/ /plants?__proto__=a /__proto__ http://a/plants http://[/ ' +
      'http://[::1]:99999/ https://u:p@h/plants',
    '',
  ),
  bytes(12).map((text) => `/${text}`),
)

const version = oneOf('HTTP/1.1 HTTP/1.0 HTTP/0.9 HTTP/2.0', 'HTTP/1.1 ', '')

export const line = mostly(
  'POST /plants HTTP/1.1',
  4,
  fc.tuple(method, target, version).map((parts) => parts.join(' ')),
  fc.tuple(method, target).map((parts) => `${parts.join(' ')} HTTP/1.1`),
  target.map((path) => `GET ${path} HTTP/1.1`),
)

/** Names of headers that frame, admit or upgrade, where a wrong value costs the request. */
const weightyName = fc.oneof(
  oneOf(
    'Content-Length Transfer-Encoding Connection Expect Upgrade Trailer Content-Type ' +
      'Content-Encoding Authorization Host Keep-Alive If-None-Match HTTP2-Settings ' +
      'Access-Control-Request-Method Proxy-Connection',
    '',
    ' X',
    'X ',
  ),
  bytes(6),
)

export const value = fc.oneof(
  oneOf(
    '0 1 25 -1 +5 0x10 1e3 65537 18446744073709551616 chunked identity close keep-alive upgrade ' +
      `100-continue websocket h2c application/json text/plain bytes=0-1 * "a" ${INHERITED}`,
    ...['', '5, 5', 'gzip, chunked', 'chunked, chunked', 'application/json; q=a', '1.2.3.4, ::1'],
    ...[`Bearer ${TOKEN}`, '\r\n folded', 'a\0b', 'a\rb', 'a\nb', '\t', '\x80\xff'],
  ),
  bytes(12),
)

const lightName = oneOf(
  `X a Cookie Origin X-Forwarded-For X-Request-Id traceparent Range TE ${INHERITED}`,
)
const lightValue = oneOf(`a 1 * "a" ${INHERITED}`, '', '1.2.3.4, ::1', '\x80\xff')

export const header = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(lightName, lightValue) },
  { weight: 1, arbitrary: fc.tuple(fc.oneof(lightName, weightyName), value) },
)

export const body = mostly(
  '{"id":1,"name":"Fern"}',
  4,
  oneOf(
    '{ {} null [] {"id":1e400,"name":"a"} {"id":1,"name":"\\ud800"} \xff ' +
      '{"__proto__":{"id":1,"name":"a"}} {"id":2,"name":"a","constructor":{"prototype":1}}',
    ...['', '['.repeat(500), ' '.repeat(70_000), `{"id":${'9'.repeat(400)},"name":"a"}`],
  ),
  bytes(30),
  fc
    .tuple(fc.integer({ min: -3, max: 3 }), bytes(5))
    .map(([id, name]) => JSON.stringify({ id, name })),
)
