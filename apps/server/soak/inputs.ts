import fc from 'fast-check'

/** Stands for a credential that opens the service, so that an input can be shown to anybody. */
export const TOKEN = '<token>'

/** What one connection does. */
export interface Input {
  readonly listener: 'service' | 'operations'
  /** Sent one after the other. Text is latin1, so that any byte can stand in it. */
  readonly packets: readonly string[]
  /** Half a close, a reset once all is sent, or a connection that is left open for a while. */
  readonly ending: 'finish' | 'reset' | 'leave'
}

/** Mostly the first; else one of the others. */
function mostly<Value>(good: Value, weight: number, ...others: fc.Arbitrary<Value>[]) {
  const rest = others.map((arbitrary) => ({ weight: 1, arbitrary }))
  return fc.oneof({ weight, arbitrary: fc.constant(good) }, ...rest)
}

const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code))
const bytes = (maxLength: number) => fc.string({ unit: byte, maxLength })
const oneOf = (words: string, ...others: string[]) =>
  fc.constantFrom(...words.split(' '), ...others)

/** Names that every object of JavaScript has. */
const INHERITED = '__proto__ constructor prototype toString hasOwnProperty valueOf'

const method = oneOf('GET HEAD POST PUT DELETE OPTIONS TRACE CONNECT PRI SOURCE get')
const target = fc.oneof(
  oneOf(
    '/ /plants /openapi.json /openapi-3.0.json /docs /livez /readyz /metrics * // ? a:1 /% /%00 ' +
      '/../plants /plants/ /plants?__proto__=a /__proto__ http://a/plants http://[/ ' +
      'http://[::1]:99999/ https://u:p@h/plants',
    '',
  ),
  bytes(12).map((text) => `/${text}`),
)
const version = oneOf('HTTP/1.1 HTTP/1.0 HTTP/0.9 HTTP/2.0', 'HTTP/1.1 ', '')
const line = mostly(
  'POST /plants HTTP/1.1',
  4,
  fc.tuple(method, target, version).map((parts) => parts.join(' ')),
  target.map((path) => `GET ${path} HTTP/1.1`),
)

/** Names of headers that frame, admit or upgrade, where a wrong value costs the request. */
const weightyName = fc.oneof(
  oneOf(
    'Content-Length Transfer-Encoding Connection Expect Upgrade Trailer Content-Type ' +
      'Content-Encoding Authorization Host Keep-Alive If-None-Match HTTP2-Settings ' +
      'Access-Control-Request-Method Proxy-Connection',
    ...['', ' X', 'X '],
  ),
  bytes(6),
)
const value = fc.oneof(
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
const header = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(lightName, lightValue) },
  { weight: 1, arbitrary: fc.tuple(fc.oneof(lightName, weightyName), value) },
)
const body = mostly(
  '{"id":1,"name":"Fern"}',
  4,
  oneOf(
    '{ {} null [] {"id":1e400,"name":"a"} {"id":1,"name":"\\ud800"} \xff ' +
      '{"__proto__":{"id":1,"name":"a"}} {"id":2,"name":"a","constructor":{"prototype":1}}',
    ...['', '['.repeat(500), ' '.repeat(70_000), `{"id":${'9'.repeat(400)},"name":"a"}`],
  ),
  bytes(30),
)

/** A request as its bytes; the last of its headers comes `times` times. */
const request = fc
  .record({
    line,
    host: mostly('a', 40, value),
    authorization: oneOf('Basic', '', `Bearer ${TOKEN}`, `Bearer ${TOKEN}`, 'Bearer plant_a_b'),
    headers: fc.array(header, { maxLength: 3 }),
    times: mostly(1, 60, fc.integer({ min: 2, max: 3_000 })),
    framing: fc.constantFrom('none', 'length', 'length', 'chunked'),
    body,
  })
  .map(({ line, host, authorization, headers, times, framing, body }) => {
    const [last, ...more] = headers.map((parts) => parts.join(': '))
    const chunks = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`
    const [length, content] = {
      none: ['', ''],
      length: [`Content-Length: ${body.length}`, body],
      chunked: ['Transfer-Encoding: chunked', `${chunks}0\r\n\r\n`],
    }[framing] as [string, string]
    const framed = length === '' ? [] : ['Content-Type: application/json', length]
    const credential = authorization === '' ? [] : [`Authorization: ${authorization}`]
    const repeated = last === undefined ? [] : Array<string>(times).fill(last)
    const lines = [line, `Host: ${host}`, ...credential, ...more, ...repeated, ...framed]
    return `${lines.join('\r\n')}\r\n\r\n${content}`
  })

/** One change of the bytes; `at` counts from the beginning, round and round. */
const fault = fc.record({
  at: fc.nat(600),
  remove: mostly(0, 1, fc.integer({ min: 1, max: 40 }), fc.constant(100_000)),
  insert: fc.oneof(
    oneOf(
      `${INHERITED} ffffffffffffffff : ; , \0 \r \n \r\n \r\n\r\n 0\r\n\r\n`,
      '',
      '\r\n ',
      '\t',
    ),
    bytes(8),
  ),
})

const packets = fc
  .record({
    requests: fc.array(request, { minLength: 1, maxLength: 3 }),
    faults: mostly<{ at: number; remove: number; insert: string }[]>(
      [],
      2,
      fc.array(fault, { maxLength: 4 }),
    ),
    cuts: mostly<number[]>([], 1, fc.array(fc.nat(600), { maxLength: 3 })),
  })
  .map(({ requests, faults, cuts }) => {
    const text = faults.reduce((whole, { at, remove, insert }) => {
      const place = at % (whole.length + 1)
      return whole.slice(0, place) + insert + whole.slice(place + remove)
    }, requests.join(''))
    const places = cuts.map((place) => place % (text.length + 1)).sort((one, two) => one - two)
    return [0, ...places].map((place, index) => text.slice(place, places[index]))
  })

/** What a caller might send by mistake or in malice. */
export const input: fc.Arbitrary<Input> = fc.record({
  listener: mostly<Input['listener']>('service', 9, fc.constant('operations')),
  packets,
  ending: fc.constantFrom('finish', 'finish', 'finish', 'reset', 'leave'),
})
