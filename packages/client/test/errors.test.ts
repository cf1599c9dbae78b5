import { describe, expect, test } from 'vitest'
import { optionError } from '../src/errors.ts'
import { toConnectionError } from '../src/failure.ts'
import { type Applied, isPlantStoreError, PlantStoreError } from '../src/index.ts'
import { createScrub } from '../src/scrubber.ts'
import { fetchFailed, run, tooMany } from './fakes.ts'

const url = new URL('https://plants.example/plants')
const scrub = createScrub(new Set())
const judge = (thrown: unknown, isOnce = true, applied: Applied = 'maybe', status?: number) =>
  toConnectionError(thrown, { url, scrub }, applied, { isOnce, status: () => status })
const wrapped = (cause: Error) => new TypeError('fetch failed', { cause })

/** What Node gives where several addresses were tried. */
function severalAddresses(...syscalls: string[]): TypeError {
  const errors = syscalls.map((syscall) => Object.assign(new Error(), { code: 'E', syscall }))
  return wrapped(Object.assign(new AggregateError(errors), { code: 'ETIMEDOUT' }))
}

const failed = { code: 'connection_failed', applied: 'no', retryable: true }
const lost = { code: 'connection_lost', applied: 'maybe', retryable: true }
const refusedHere = { code: 'connection_failed', applied: 'no', retryable: false }
const byProxy = { ...refusedHere, status: 407 }
const untrusted = { code: 'tls_failed', applied: 'no', retryable: false }
const brokenTls = { code: 'tls_failed', applied: 'maybe', retryable: false }

const UNREADABLE = 'an unreadable error'
const NO_REASON = 'the runtime gives no reason'
const PROXY = 'proxy authentication is required (407)'
const tunnel = wrapped(new Error('Proxy response (407) !== 200'))
const byDeno = wrapped(
  new Error('error sending request: client error (Connect): proxy authentication required'),
)
const unreadable = Object.defineProperty(new Error('x'), 'cause', {
  get() {
    throw new Error('y')
  },
})

describe('where fetch fails, the error names it', () => {
  test.each<[code: string, syscall: string | undefined, facts: object]>([
    ['ECONNREFUSED', 'connect', failed],
    ['ENOTFOUND', 'getaddrinfo', failed],
    ['EAI_FAIL', 'getaddrinfo', failed],
    ['EHOSTUNREACH', 'connect', failed],
    ['EHOSTUNREACH', 'read', lost],
    ['UND_ERR_CONNECT_TIMEOUT', undefined, failed],
    ['ECONNRESET', 'read', lost],
    ['CERT_HAS_EXPIRED', undefined, untrusted],
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
    ['a proxy refuses a tunnel', tunnel, PROXY, byProxy],
    ['a proxy of Deno does', byDeno, PROXY, byProxy],
    ['a symbol is thrown', Symbol('x'), 'Symbol(x)', lost],
    ['an AggregateError holds nothing', new AggregateError([null]), UNREADABLE, lost],
    ['a message is no text', { message: Object.create(null) }, UNREADABLE, lost],
    ['a code is no text', { code: Object.create(null) }, UNREADABLE, lost],
    ['a name is no text', { name: Object.create(null) }, UNREADABLE, lost],
    ['a cause cannot be read', unreadable, UNREADABLE, lost],
    ['nothing is thrown', undefined, NO_REASON, lost],
    ['null is thrown', null, NO_REASON, lost],
  ])('%s', (_what, thrown, reason, facts) => {
    const message = `no response from plants.example: ${reason}`
    expect(judge(thrown)).toMatchObject({ ...facts, reason, message })
  })

  test('by the status of a proxy that fetch keeps to itself', () => {
    const facts = { ...lost, retryable: false, status: 407, reason: PROXY }
    const failedBy = (status: number) =>
      judge(new TypeError('fetch failed'), false, 'maybe', status)
    expect(failedBy(407)).toMatchObject(facts)
    expect(failedBy(200)).not.toHaveProperty('status')
  })
})

test.each<[string, unknown, object]>([
  ['a refused connection', fetchFailed('ECONNREFUSED', 'connect'), failed],
  ['an untrusted certificate', fetchFailed('CERT_HAS_EXPIRED'), untrusted],
  ['a proxy', tunnel, refusedHere],
  ["another protocol's port", wrapped(new Error('bad port')), refusedHere],
])('%s does not say what fetch may have sent before', (_what, thrown, facts) => {
  for (const applied of ['maybe', 'yes'] as const) {
    expect(judge(thrown, false, applied)).toMatchObject({ ...facts, applied })
  }
})

test('what a terminal would obey is shown instead, in message, reason and cause', () => {
  const evil = Object.assign(new Error('\u001b[2J\r\nforged\u202e'), { code: 'E\u0007' })
  const error = judge(wrapped(evil))
  const reason = 'E\\u0007'
  expect(error).toMatchObject({ reason, message: `no response from plants.example: ${reason}` })
  expect(error.cause).toMatchObject({ message: '\\u001b[2J\\u000d\\u000aforged\\u202e' })
  expect(`${error.stack} ${(error.cause as Error).stack}`).not.toMatch(/[\u001b\u0007\r\u202e]/)
})

describe('its cause', () => {
  test('is a copy of the innermost error, without what hung on it', () => {
    const cause = Object.assign(new Error('read'), { code: 'ECONNRESET', socket: {} })
    const { cause: copy } = judge(wrapped(cause))
    expect(copy).toMatchObject({ name: 'Error', message: 'read', code: 'ECONNRESET' })
    expect(copy).not.toHaveProperty('socket')
    const { cause: words } = judge('gone')
    expect(words).toMatchObject({ name: 'Error', message: 'gone', stack: 'Error: gone' })
    expect(words).not.toHaveProperty('code')
  })

  test('may go round in a circle, and is heard down to the fifth depth', () => {
    const round: Error & { cause?: unknown } = new Error('round')
    round.cause = round
    expect(judge(round)).toMatchObject({ code: 'connection_lost', reason: 'round' })
    const refused = Object.assign(new Error(), { code: 'ECONNREFUSED', syscall: 'connect' })
    const within = (depth: number): Error =>
      depth === 0 ? refused : new Error('outer', { cause: within(depth - 1) })
    expect(judge(within(4)).code).toBe('connection_failed')
    expect(judge(within(5)).code).toBe('connection_lost')
  })
})

describe('an error of the client', () => {
  test('is known in another copy of the package, and nothing else is', () => {
    const other = Object.assign(new Error(), { [Symbol.for('plant-store.error')]: true })
    for (const error of [optionError('speed', 'is none'), other]) {
      expect([isPlantStoreError(error), error instanceof PlantStoreError]).toEqual([true, true])
    }
    for (const value of [new Error(), {}, null, undefined, 'PlantStoreError']) {
      expect([isPlantStoreError(value), value instanceof PlantStoreError]).toEqual([false, false])
    }
  })

  test('has no cause where it was given none', () => {
    expect('cause' in new PlantStoreError('server_error', 'broken')).toBe(false)
    expect(new PlantStoreError('aborted', '', { cause: null }).cause).toBeNull()
  })

  test('has as JSON the fields worth a log line, without causes and stacks', async () => {
    const error = optionError('speed', 'is not an option')
    Object.defineProperty(error, 'cause', { value: new Error('secret') })
    const facts = { name: 'PlantStoreError', applied: 'no', retryable: false, attempts: 0 }
    const said = { code: 'invalid_option', message: 'speed is not an option', option: 'speed' }
    expect(JSON.parse(JSON.stringify(error))).toEqual({ ...facts, ...said })
    const { error: refusal, meta } = await run(tooMany(99))
    expect(JSON.parse(JSON.stringify(refusal))).toEqual({
      ...{ name: 'PlantStoreError', code: 'rate_limited', applied: 'maybe', retryable: true },
      ...{ message: 'the plant store answered 429: no (42900)', attempts: 1 },
      ...{ requestId: meta.requestId, status: 429, retryAfterMs: 99_000 },
      ...{ apiCode: 42900, apiName: 'too_many_requests', apiMessage: 'no' },
    })
  })
})
