import { describe, expect, test } from 'vitest'
import { toConnectionError } from '../src/failure.ts'
import { createScrub } from '../src/scrubber.ts'
import { fetchFailed } from './fake-fetch.ts'

const url = new URL('https://plants.example/plants')

function judge(thrown: unknown, isOnce = true) {
  return toConnectionError(thrown, url, createScrub(new Set()), isOnce, 'maybe')
}

function wrapped(cause: Error): TypeError {
  return new TypeError('fetch failed', { cause })
}

/** What Node gives where several addresses were tried. */
function severalAddresses(...syscalls: string[]): TypeError {
  const errors = syscalls.map((syscall) => Object.assign(new Error(), { code: 'E', syscall }))
  return wrapped(Object.assign(new AggregateError(errors), { code: 'ETIMEDOUT' }))
}

const failed = { code: 'connection_failed', applied: 'no', retryable: true }
const lost = { code: 'connection_lost', applied: 'maybe', retryable: true }
const refusedHere = { code: 'connection_failed', applied: 'no', retryable: false }
const untrusted = { code: 'tls_failed', applied: 'no', retryable: false }
const brokenTls = { code: 'tls_failed', applied: 'maybe', retryable: false }

const NO_REASON = 'the runtime gives no reason'
const PROXY = 'proxy authentication is required (407)'
const DENO = (why: string) => `error sending request: client error (Connect): ${why}`
const denoFailed = (why: string) => wrapped(new Error(DENO(why)))
const bunHandshake = Object.assign(new TypeError('EPROTO: The TLS handshake failed.'), {
  code: 'EPROTO',
})

test.each<[string, unknown]>([
  ['an AggregateError of nothing', new AggregateError([null])],
  ['a message that is no text', { message: Object.create(null) }],
  ['a code that is no text', { code: Object.create(null) }],
  ['a name that is no text', { name: Object.create(null) }],
  ['a symbol', Symbol('x')],
  [
    'a cause that cannot be read',
    Object.defineProperty(new Error('x'), 'cause', {
      get() {
        throw new Error('y')
      },
    }),
  ],
])('whatever fetch throws, the error is of the client: %s', (_what, thrown) => {
  expect(judge(thrown)).toMatchObject(lost)
})

describe('where fetch fails, the error names it', () => {
  test.each<[code: string, syscall: string | undefined, facts: object]>([
    ['ECONNREFUSED', 'connect', failed],
    ['ENOTFOUND', 'getaddrinfo', failed],
    ['EAI_FAIL', 'getaddrinfo', failed],
    ['EHOSTUNREACH', 'connect', failed],
    ['EHOSTUNREACH', 'read', lost],
    ['UND_ERR_CONNECT_TIMEOUT', undefined, failed],
    ['ConnectionRefused', undefined, failed],
    ['ECONNRESET', 'read', lost],
    ['CERT_HAS_EXPIRED', undefined, untrusted],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', undefined, untrusted],
    ['ERR_TLS_CERT_ALTNAME_INVALID', undefined, untrusted],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', undefined, untrusted],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', undefined, brokenTls],
    ['EPROTO', 'write', brokenTls],
    // Codes that only look like others.
    ['XECONNREFUSED', undefined, lost],
    ['ENOTFOUNDX', undefined, lost],
    ['MY_CERT_X', undefined, lost],
    ['MY_ERR_SSL_X', undefined, lost],
    ['EPROTOX', undefined, lost],
  ])('%s of %s: %o', (code, syscall, facts) => {
    expect(judge(fetchFailed(code, syscall))).toMatchObject({ ...facts, reason: code })
  })

  test.each<[what: string, thrown: unknown, reason: string, facts: object]>([
    ['no address is in reach', severalAddresses('connect', 'connect'), 'ETIMEDOUT', failed],
    ['one address may be', severalAddresses('connect', 'read'), 'ETIMEDOUT', lost],
    ['no address is named', severalAddresses(), 'ETIMEDOUT', lost],
    ['a browser says nothing', new TypeError('Failed to fetch'), 'Failed to fetch', lost],
    ["another protocol's port", wrapped(new Error('bad port')), 'bad port', refusedHere],
    ['a DOMException has a number', new DOMException('late', 'TimeoutError'), 'late', lost],
    ['a text is thrown', 'gone', 'gone', lost],
    ['nothing is said at all', new Error(''), NO_REASON, lost],
    ['a blank text is thrown', ' \n', NO_REASON, lost],
    ['only the outer error says anything', wrapped(new Error('')), 'fetch failed', lost],
    ['a code is blank', Object.assign(new Error('gone'), { code: '' }), 'gone', lost],
    [
      'Deno is refused',
      denoFailed('tcp connect error: refused'),
      DENO('tcp connect error: refused'),
      failed,
    ],
    [
      'Deno does not trust',
      denoFailed('invalid peer certificate: X'),
      DENO('invalid peer certificate: X'),
      untrusted,
    ],
    [
      'Deno meets no TLS',
      denoFailed('received corrupt message'),
      DENO('received corrupt message'),
      untrusted,
    ],
    ['Bun meets no TLS', bunHandshake, 'EPROTO', untrusted],
    [
      'a proxy refuses a tunnel',
      wrapped(new Error('Proxy response (407) !== 200')),
      PROXY,
      refusedHere,
    ],
    ['a proxy of Deno does', denoFailed('proxy authentication required'), PROXY, refusedHere],
    ['nothing is thrown', undefined, NO_REASON, lost],
    ['null is thrown', null, NO_REASON, lost],
  ])('%s', (_what, thrown, reason, facts) => {
    const error = judge(thrown)
    expect(error).toMatchObject({ ...facts, reason })
    expect(error.message).toBe(`no response from plants.example: ${reason}`)
  })
})

describe('where fetch may have sent something before it failed, the plant may be stored', () => {
  test.each<[string, unknown, object]>([
    ['a refused connection', fetchFailed('ECONNREFUSED', 'connect'), failed],
    ['an untrusted certificate', fetchFailed('CERT_HAS_EXPIRED'), untrusted],
    ['a proxy', wrapped(new Error('Proxy response (407) !== 200')), refusedHere],
    ["another protocol's port", wrapped(new Error('bad port')), refusedHere],
  ])('%s', (_what, thrown, facts) => {
    expect(judge(thrown, false)).toMatchObject({ ...facts, applied: 'maybe' })
  })
})

test('what a terminal would obey is shown instead, in message, reason and cause', () => {
  const evil = Object.assign(new Error('\u001b[2J\r\nforged\u202e'), { code: 'E\u0007' })
  const error = judge(wrapped(evil))
  const shown = 'E\\u0007'
  expect(error).toMatchObject({
    reason: shown,
    message: `no response from plants.example: ${shown}`,
  })
  expect(error.cause).toMatchObject({ message: '\\u001b[2J\\u000d\\u000aforged\\u202e' })
  expect(`${error.stack} ${(error.cause as Error).stack}`).not.toMatch(/[\u001b\u0007\r\u202e]/)
})

test('it names host and port', () => {
  expect(judge('gone')).toMatchObject({ host: 'plants.example', port: 443 })
  const local = new URL('http://[::1]:3000/')
  const error = toConnectionError('gone', local, createScrub(new Set()), true, 'maybe')
  expect(error).toMatchObject({ host: '[::1]', port: 3000 })
})

test('after a 200 of the server it keeps what that said', () => {
  const late = fetchFailed('ECONNRESET', 'read')
  expect(toConnectionError(late, url, createScrub(new Set()), true, 'yes').applied).toBe('yes')
})

test('its cause is a copy of the innermost error, without what hung on it', () => {
  const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', socket: {} })
  const { cause: copy } = judge(wrapped(cause))
  expect(copy).toMatchObject({ name: 'Error', message: 'read ECONNRESET', code: 'ECONNRESET' })
  expect(copy).not.toHaveProperty('socket')
  expect(copy).not.toBe(cause)
})

test('causes that go round in a circle come to an end', () => {
  const error: Error & { cause?: unknown } = new Error('round')
  error.cause = error
  expect(judge(error)).toMatchObject({ code: 'connection_lost', reason: 'round' })
})

test('its cause is nothing but words: a name, a message, and a code where there was one', () => {
  const { cause } = judge('gone')
  expect(cause).toMatchObject({ name: 'Error', message: 'gone', stack: 'Error: gone' })
  expect(cause).not.toHaveProperty('code')
})

test('a cause of the fifth depth is still heard, one of the sixth is not', () => {
  const refused = Object.assign(new Error(), { code: 'ECONNREFUSED', syscall: 'connect' })
  const within = (depth: number): Error =>
    depth === 0 ? refused : new Error('outer', { cause: within(depth - 1) })
  expect(judge(within(4)).code).toBe('connection_failed')
  expect(judge(within(5)).code).toBe('connection_lost')
})
