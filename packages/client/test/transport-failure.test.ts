import { describe, expect, test } from 'vitest'
import { createScrubber } from '../src/scrubber.ts'
import { toConnectionError } from '../src/transport-failure.ts'
import { fetchFailed } from './fake-fetch.ts'

const url = new URL('https://plants.example/plants')

function judge(thrown: unknown) {
  return toConnectionError(thrown, url, createScrubber(), 'maybe')
}

/** What Node gives where several addresses were tried. */
function severalAddresses(...syscalls: string[]): TypeError {
  const errors = syscalls.map((syscall) => Object.assign(new Error(), { code: 'E', syscall }))
  const cause = Object.assign(new AggregateError(errors), { code: 'ETIMEDOUT' })
  return new TypeError('fetch failed', { cause })
}

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
  const facts = { code: 'connection_lost', applied: 'maybe', retryable: true }
  expect(judge(thrown)).toMatchObject(facts)
})

test('the number that a DOMException has for its code says nothing', () => {
  expect(judge(new DOMException('too late', 'TimeoutError')).reason).toBe('too late')
})

describe('where fetch fails, the error names it', () => {
  test.each<[string, unknown, string, string, boolean, string]>([
    [
      'refused',
      fetchFailed('ECONNREFUSED', 'connect'),
      'connection_failed',
      'no',
      true,
      'ECONNREFUSED',
    ],
    [
      'no such host',
      fetchFailed('ENOTFOUND', 'getaddrinfo'),
      'connection_failed',
      'no',
      true,
      'ENOTFOUND',
    ],
    [
      'DNS is down',
      fetchFailed('EAI_AGAIN', 'getaddrinfo'),
      'connection_failed',
      'no',
      true,
      'EAI_AGAIN',
    ],
    [
      'no route',
      fetchFailed('EHOSTUNREACH', 'connect'),
      'connection_failed',
      'no',
      true,
      'EHOSTUNREACH',
    ],
    [
      'no way to connect in time',
      fetchFailed('UND_ERR_CONNECT_TIMEOUT'),
      'connection_failed',
      'no',
      true,
      'UND_ERR_CONNECT_TIMEOUT',
    ],
    [
      'refused in Bun',
      Object.assign(new Error('x'), { code: 'ConnectionRefused' }),
      'connection_failed',
      'no',
      true,
      'ConnectionRefused',
    ],
    [
      'every address is out of reach',
      severalAddresses('connect', 'connect'),
      'connection_failed',
      'no',
      true,
      'ETIMEDOUT',
    ],
    [
      'not every one is',
      severalAddresses('connect', 'read'),
      'connection_lost',
      'maybe',
      true,
      'ETIMEDOUT',
    ],
    [
      'no route after all',
      fetchFailed('EHOSTUNREACH', 'read'),
      'connection_lost',
      'maybe',
      true,
      'EHOSTUNREACH',
    ],
    ['reset', fetchFailed('ECONNRESET', 'read'), 'connection_lost', 'maybe', true, 'ECONNRESET'],
    ['closed', fetchFailed('UND_ERR_SOCKET'), 'connection_lost', 'maybe', true, 'UND_ERR_SOCKET'],
    ['broken pipe', fetchFailed('EPIPE', 'write'), 'connection_lost', 'maybe', true, 'EPIPE'],
    [
      'a browser says nothing',
      new TypeError('Failed to fetch'),
      'connection_lost',
      'maybe',
      true,
      'Failed to fetch',
    ],
    [
      'a port of another protocol',
      new TypeError('fetch failed', { cause: new Error('bad port') }),
      'connection_failed',
      'no',
      false,
      'bad port',
    ],
    [
      'a certificate that ran out',
      fetchFailed('CERT_HAS_EXPIRED'),
      'tls_failed',
      'no',
      false,
      'CERT_HAS_EXPIRED',
    ],
    [
      'a certificate of its own',
      fetchFailed('DEPTH_ZERO_SELF_SIGNED_CERT'),
      'tls_failed',
      'no',
      false,
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    ],
    [
      'a certificate of another host',
      fetchFailed('ERR_TLS_CERT_ALTNAME_INVALID'),
      'tls_failed',
      'no',
      false,
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    [
      'an unknown issuer',
      fetchFailed('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
      'tls_failed',
      'no',
      false,
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    [
      'TLS that breaks',
      fetchFailed('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'),
      'tls_failed',
      'maybe',
      false,
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    ],
    [
      'an unforeseen failure of DNS',
      fetchFailed('EAI_FAIL', 'getaddrinfo'),
      'connection_failed',
      'no',
      true,
      'EAI_FAIL',
    ],
    ...['XECONNREFUSED', 'ENOTFOUNDX', 'MY_CERT_X', 'MY_ERR_SSL_X', 'EPROTOX'].map(
      (code): [string, unknown, string, string, boolean, string] => [
        `a code that only looks like another: ${code}`,
        fetchFailed(code),
        'connection_lost',
        'maybe',
        true,
        code,
      ],
    ),
    ['no TLS at all', fetchFailed('EPROTO', 'write'), 'tls_failed', 'maybe', false, 'EPROTO'],
    ['a text is thrown', 'gone', 'connection_lost', 'maybe', true, 'gone'],
    ['nothing is thrown', undefined, 'connection_lost', 'maybe', true, 'undefined'],
    ['null is thrown', null, 'connection_lost', 'maybe', true, 'null'],
  ])('%s', (_what, thrown, code, applied, retryable, reason) => {
    const error = judge(thrown)
    expect(error).toMatchObject({ code, applied, retryable, reason })
    expect(error.message).toBe(`no reply from plants.example: ${reason}`)
  })
})

test('an error of several addresses that names none proves nothing', () => {
  expect(judge(severalAddresses())).toMatchObject({ code: 'connection_lost', applied: 'maybe' })
})

test('it names host and port', () => {
  expect(judge('gone')).toMatchObject({ host: 'plants.example', port: 443 })
  const local = toConnectionError('gone', new URL('http://[::1]:3000/'), createScrubber(), 'maybe')
  expect(local).toMatchObject({ host: '[::1]', port: 3000 })
})

test('after a 200 of the server it keeps what that said', () => {
  const late = fetchFailed('ECONNRESET', 'read')
  expect(toConnectionError(late, url, createScrubber(), 'yes').applied).toBe('yes')
})

test('its cause is a copy of the innermost error, without what hung on it', () => {
  const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', socket: {} })
  const { cause: copy } = judge(new TypeError('fetch failed', { cause }))
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
