import fc from 'fast-check'

/** Stands for a credential that opens the service, so that an input can be shown to anybody. */
const TOKEN = '<token>'

interface Request {
  readonly line: string
  readonly host: string
  readonly authorization: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** How often the last of the headers comes. */
  readonly times: number
  readonly framing: 'length' | 'chunked' | 'none'
  readonly body: string
}

/** One change of the bytes; `at` counts from the beginning, round and round. */
interface Fault {
  readonly at: number
  readonly remove: number
  readonly insert: string
}

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
  return fc.oneof(
    { weight, arbitrary: fc.constant(good) },
    ...others.map((arbitrary) => ({ weight: 1, arbitrary })),
  )
}

const bytes = (maxLength: number) =>
  fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((n) => String.fromCharCode(n)),
    maxLength,
  })

const INHERITED = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']

const method = fc.constantFrom(
  ...[
    'GET',
    'HEAD',
    'POST',
    'PUT',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'CONNECT',
    'PRI',
    'SOURCE',
    'get',
  ],
)
const target = fc.oneof(
  fc.constantFrom(
    ...['/', '/plants', '/openapi.json', '/openapi.yaml', '/docs', '/livez', '/readyz', '/metrics'],
    ...['*', '//', '/%', '/%00', '/../plants', '/plants/', '/plants?__proto__=a', '/__proto__', ''],
    ...['http://a/plants', 'http://[/', 'http://[::1]:99999/', 'https://u:p@h/plants', 'a:1', '?'],
  ),
  bytes(12).map((text) => `/${text}`),
)
const version = fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.1 ', '')
const line = mostly(
  'POST /plants HTTP/1.1',
  4,
  fc.tuple(method, target, version).map((parts) => parts.join(' ')),
  fc.tuple(method, target).map((parts) => `${parts.join(' ')} HTTP/1.1`),
  target.map((path) => `GET ${path} HTTP/1.1`),
)

const plainName = fc.constantFrom(
  ...[
    'X',
    'a',
    'Cookie',
    'Origin',
    'X-Forwarded-For',
    'X-Request-Id',
    'traceparent',
    'Range',
    'TE',
  ],
  ...INHERITED,
)
const name = fc.oneof(
  fc.constantFrom(
    ...['Content-Length', 'Transfer-Encoding', 'Connection', 'Expect', 'Upgrade', 'Trailer', 'TE'],
    ...[
      'Content-Type',
      'Content-Encoding',
      'Authorization',
      'Host',
      'Cookie',
      'Keep-Alive',
      'Origin',
    ],
    ...[
      'X-Forwarded-For',
      'X-Request-Id',
      'traceparent',
      'If-None-Match',
      'Range',
      'HTTP2-Settings',
    ],
    ...[
      'Access-Control-Request-Method',
      'Proxy-Connection',
      'X',
      '',
      ' X',
      'X ',
      'a',
      ...INHERITED,
    ],
  ),
  bytes(6),
)
const value = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      'a',
      '0',
      '1',
      '25',
      '-1',
      '+5',
      '0x10',
      '1e3',
      '65537',
      '18446744073709551616',
      '5, 5',
    ],
    ...[
      'chunked',
      'gzip, chunked',
      'chunked, chunked',
      'identity',
      'close',
      'keep-alive',
      'upgrade',
    ],
    ...[
      '100-continue',
      'websocket',
      'h2c',
      'application/json',
      'text/plain',
      'application/json; q=a',
    ],
    ...['bytes=0-1', '*', '"a"', 'https://a.test', '1.2.3.4, ::1', `Bearer ${TOKEN}`, 'Bearer x'],
    ...['\r\n folded', 'a\0b', 'a\rb', 'a\nb', '\t', '\x80\xff', ...INHERITED],
  ),
  bytes(12),
)
const plainValue = fc.constantFrom(
  '',
  'a',
  '1',
  '*',
  '"a"',
  '1.2.3.4, ::1',
  '\x80\xff',
  ...INHERITED,
)
const header = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(plainName, plainValue) },
  { weight: 1, arbitrary: fc.tuple(name, value) },
)

const plant = '{"id":1,"name":"Fern"}'
const body = mostly(
  plant,
  4,
  fc.constantFrom(
    ...[
      '',
      '{',
      '{}',
      'null',
      '[]',
      '{"id":1e400,"name":"a"}',
      '{"id":1,"name":"\\ud800"}',
      '\xff',
    ],
    ...['{"__proto__":{"id":1,"name":"a"}}', '{"id":2,"name":"a","constructor":{"prototype":1}}'],
    ...['['.repeat(500), ' '.repeat(70_000), `{"id":${'9'.repeat(400)},"name":"a"}`],
  ),
  bytes(30),
  fc
    .tuple(fc.integer({ min: -3, max: 3 }), bytes(5))
    .map((parts) => JSON.stringify({ id: parts[0], name: parts[1] })),
)

const request: fc.Arbitrary<Request> = fc.record({
  line,
  host: mostly('a', 40, value),
  authorization: fc.constantFrom(
    '',
    `Bearer ${TOKEN}`,
    `Bearer ${TOKEN}`,
    'Bearer plant_a_b',
    'Basic a',
  ),
  headers: fc.array(header, { maxLength: 3 }),
  times: mostly(1, 60, fc.integer({ min: 2, max: 3_000 })),
  framing: fc.constantFrom('none', 'length', 'length', 'chunked'),
  body,
})

const PIECES = [
  '\0',
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\r\n ',
  ':',
  ' ',
  '\t',
  ';',
  ',',
  '0\r\n\r\n',
]
const fault: fc.Arbitrary<Fault> = fc.record({
  at: fc.nat(600),
  remove: mostly(0, 1, fc.integer({ min: 1, max: 40 }), fc.constant(100_000)),
  insert: fc.oneof(fc.constantFrom('', ...PIECES, 'ffffffffffffffff', ...INHERITED), bytes(8)),
})

function frame({ framing, body }: Request): { readonly lines: string[]; readonly content: string } {
  if (framing === 'none') return { lines: [], content: '' }
  if (framing === 'length') return { lines: [`Content-Length: ${body.length}`], content: body }
  const size = body.length.toString(16)
  const chunks = body === '' ? '' : `${size}\r\n${body}\r\n`
  return { lines: ['Transfer-Encoding: chunked'], content: `${chunks}0\r\n\r\n` }
}

function write(request: Request): string {
  const { lines, content } = frame(request)
  const headers = request.headers.map((parts) => parts.join(': '))
  const last = headers.pop()
  const authorization = request.authorization && [`Authorization: ${request.authorization}`]
  const type = request.framing === 'none' ? [] : ['Content-Type: application/json']
  const repeated = last === undefined ? [] : Array(request.times).fill(last)
  const more = [...authorization, ...type, ...headers, ...repeated, ...lines]
  return `${[request.line, `Host: ${request.host}`, ...more].join('\r\n')}\r\n\r\n${content}`
}

function apply(text: string, { at, remove, insert }: Fault): string {
  const place = at % (text.length + 1)
  return text.slice(0, place) + insert + text.slice(place + remove)
}

function cut(text: string, cuts: readonly number[]): string[] {
  const places = cuts.map((place) => place % (text.length + 1)).sort((one, other) => one - other)
  return [0, ...places].map((place, index) => text.slice(place, places[index]))
}

const packets = fc
  .record({
    requests: fc.array(request, { minLength: 1, maxLength: 3 }),
    faults: mostly<readonly Fault[]>([], 2, fc.array(fault, { maxLength: 4 })),
    cuts: mostly<readonly number[]>([], 1, fc.array(fc.nat(600), { maxLength: 3 })),
  })
  .map(({ requests, faults, cuts }) =>
    cut(faults.reduce(apply, requests.map(write).join('')), cuts),
  )

const input: fc.Arbitrary<Input> = fc.record({
  listener: mostly<Input['listener']>('service', 9, fc.constant('operations')),
  packets,
  ending: fc.constantFrom('finish', 'finish', 'finish', 'reset', 'leave'),
})

/** What strangers and callers might send by mistake or in malice; the same for the same seed. */
export function makeInputs(seed: number, count: number): Input[] {
  return fc.sample(input, { seed, numRuns: count })
}

/** The bytes of a packet. */
export function toBytes(packet: string, token: string): Buffer {
  return Buffer.from(packet.replaceAll(TOKEN, token), 'latin1')
}
