import { describe, expect, test } from 'vitest'
import { ask } from '../docs/get.ts'
import { expectReply } from '../wire/expectations.ts'
import { useWireServer } from '../wire/harness.ts'
import {
  LAST_CHUNK,
  plantOf,
  plantText,
  post,
  type RequestParts,
  request,
} from '../wire/request.ts'

const ORIGIN = 'https://plants.example'

const readable = {
  vary: 'Origin',
  'access-control-allow-origin': ORIGIN,
  'access-control-expose-headers':
    'x-request-id, idempotent-replayed, retry-after, ratelimit, ratelimit-policy',
}

const closed = { vary: 'Origin' }

function preflight(origin: string, parts: RequestParts = {}, more: readonly string[] = []): Buffer {
  return request({
    line: 'OPTIONS /plants HTTP/1.1',
    authorization: null,
    contentType: null,
    framing: null,
    body: '',
    more: [`Origin: ${origin}`, 'Access-Control-Request-Method: POST', ...more],
    ...parts,
  })
}

describe('where two origins are listed', () => {
  const server = useWireServer({ corsOrigins: `${ORIGIN},http://localhost:5173` })

  test.each([ORIGIN, 'http://localhost:5173'])(
    'a preflight from %s is answered without a credential',
    async (origin) => {
      const { status, headers } = await ask(server, preflight(origin), false)
      expect(status).toBe(204)
      const { date: _d, connection: _c, 'keep-alive': _k, ...others } = Object.fromEntries(headers)
      expect(others).toStrictEqual({
        'cache-control': ['no-store'],
        'x-content-type-options': ['nosniff'],
        'x-request-id': [expect.any(String)],
        vary: ['Origin'],
        'access-control-allow-origin': [origin],
        'access-control-expose-headers': [readable['access-control-expose-headers']],
        'access-control-allow-methods': ['POST'],
        'access-control-allow-headers': [
          'authorization, content-type, x-request-id, x-retry-count',
        ],
        'access-control-max-age': ['7200'],
      })
    },
  )

  test('a preflight leaves the connection for the request that follows', async () => {
    const caller = await server.open()
    caller.send(preflight(ORIGIN))
    expect((await caller.readReply({ hasBody: false })).status).toBe(204)
    caller.send(post(plantText(1), { more: [`Origin: ${ORIGIN}`] }))
    const plant = { name: plantOf(1).name }
    expectReply(await caller.readReply(), { plant, headers: readable })
  })

  test('a preflight into a private network is allowed where it is asked for', async () => {
    const more = ['Access-Control-Request-Private-Network: true']
    const { headers } = await ask(server, preflight(ORIGIN, {}, more), false)
    expect(headers.get('access-control-allow-private-network')).toEqual(['true'])
  })

  test.each([
    ['https://plants.example.evil.test'],
    ['http://plants.example'],
    ['https://plants.example:8443'],
    [`${ORIGIN}, https://evil.test`],
    ['null'],
    [''],
  ])('a preflight from %j is a request without a credential', async (origin) => {
    const reply = await ask(server, preflight(origin))
    expectReply(reply, { error: 'missing_credentials', headers: closed })
  })

  test.each([
    ['without a method', preflight(ORIGIN, { more: [`Origin: ${ORIGIN}`] })],
    ['for another path', preflight(ORIGIN, { line: 'OPTIONS /other HTTP/1.1' })],
    ['for everything', preflight(ORIGIN, { line: 'OPTIONS * HTTP/1.1' })],
  ])('OPTIONS %s is a request without a credential', async (_case, sent) => {
    expectReply(await ask(server, sent), { error: 'missing_credentials', headers: readable })
  })

  test('framing is checked before a preflight', async () => {
    const reply = await ask(server, preflight(ORIGIN, { host: null }))
    expectReply(reply, { error: 'malformed_request', headers: readable })
  })

  test('another origin is let in with a token, but its page cannot read the reply', async () => {
    const reply = await ask(server, post(plantText(1), { more: ['Origin: https://evil.test'] }))
    expectReply(reply, { plant: { name: plantOf(1).name }, headers: closed })
  })

  const more = [`Origin: ${ORIGIN}`]
  const headerLines = Array.from({ length: 201 }, (_, index) => `X-${index}: x`)

  test.each([
    ['missing_credentials', request({ authorization: null, more })],
    ['invalid_token', request({ authorization: 'Bearer x', more })],
    ['not_found', request({ line: 'POST /other HTTP/1.1', more })],
    ['method_not_allowed', request({ line: 'PUT /plants HTTP/1.1', more })],
    ['malformed_json', post('{', { more })],
    ['invalid_plant', post('{}', { more })],
    ['body_too_large', post(plantText(1).padStart(65_537), { more })],
    ['headers_too_large', request({ more: [...more, ...headerLines] })],
    ['malformed_request', request({ more: [...more, 'Host: other.test'] })],
    ['malformed_request', request({ more, line: 'POST http:// HTTP/1.1' })],
    [
      'malformed_request',
      request({ more, framing: 'Transfer-Encoding: chunked', body: `zz\r\n${LAST_CHUNK}` }),
    ],
  ] as const)('a page can read %s', async (error, sent) => {
    expectReply(await ask(server, sent), { error, headers: readable })
  })
})

describe('where no origin is listed', () => {
  const server = useWireServer()

  test('a preflight is a request without a credential, and no reply mentions origins', () =>
    server.refuses(preflight(ORIGIN), { error: 'missing_credentials' }))

  test('a request with an origin is a request like any other', () =>
    server.accepts(post(plantText(1), { more: [`Origin: ${ORIGIN}`] }), plantOf(1)))
})
