import { describe, expect, test } from 'vitest'
import { expectReply, malformed, missing, wrongMethod } from '../wire/expectations.ts'
import { useWireServer } from '../wire/harness.ts'
import { plantOf, plantText, post, postChunks, preflight, request } from '../wire/request.ts'

const ORIGIN = 'https://plants.example'
const EXPOSED = 'x-request-id, idempotent-replayed, retry-after, ratelimit, ratelimit-policy'

const closed = { vary: 'Origin' }
const readable = {
  ...closed,
  'access-control-allow-origin': ORIGIN,
  'access-control-expose-headers': EXPOSED,
}
const plant = { name: plantOf(1).name }
const more = [`Origin: ${ORIGIN}`]
const asking = 'Access-Control-Request-Method: POST'

describe('where two origins are listed', () => {
  const server = useWireServer({ corsOrigins: `${ORIGIN},http://localhost:5173` })

  test.each([ORIGIN, 'http://localhost:5173'])(
    'a preflight from %s is answered without a credential',
    async (origin) => {
      const { status, headers } = await server.ask(preflight(origin), false)
      expect(status).toBe(204)
      const { date: _d, connection: _c, 'keep-alive': _k, ...others } = Object.fromEntries(headers)
      expect(others).toStrictEqual({
        'cache-control': ['no-store'],
        'x-content-type-options': ['nosniff'],
        'x-request-id': [expect.any(String)],
        vary: ['Origin'],
        'access-control-allow-origin': [origin],
        'access-control-expose-headers': [EXPOSED],
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
    caller.send(request({ more }))
    expectReply(await caller.readReply(), { plant, headers: readable })
  })

  test('a preflight into a private network is allowed where it is asked for', async () => {
    const privately = [...more, asking, 'Access-Control-Request-Private-Network: true']
    const { headers } = await server.ask(preflight(ORIGIN, { more: privately }), false)
    expect(headers.get('access-control-allow-private-network')).toEqual(['true'])
  })

  const others = ['https://plants.example.evil.test', 'http://plants.example', 'null', '']
  test.each([...others, 'https://plants.example:8443', `${ORIGIN}, https://evil.test`])(
    'a preflight from %j is a request without a credential',
    async (origin) =>
      expectReply(await server.ask(preflight(origin)), { ...missing, headers: closed }),
  )

  const headerLines = Array.from({ length: 201 }, (_, index) => `X-${index}: x`)
  test.each([
    ['OPTIONS without a method', preflight(ORIGIN, { more }), missing],
    ['OPTIONS of another path', preflight(ORIGIN, { line: 'OPTIONS /other HTTP/1.1' }), missing],
    ['OPTIONS of everything', preflight(ORIGIN, { line: 'OPTIONS * HTTP/1.1' }), missing],
    ['the framing of a preflight', preflight(ORIGIN, { host: null }), malformed],
    ['no token', request({ authorization: null, more }), missing],
    ['a wrong token', request({ authorization: 'Bearer x', more }), { error: 'invalid_token' }],
    ['a path', request({ line: 'POST /other HTTP/1.1', more }), { error: 'not_found' }],
    ['a method', request({ line: 'PUT /plants HTTP/1.1', more }), wrongMethod],
    ['JSON', post('{', { more }), { error: 'malformed_json' }],
    ['a plant', post('{}', { more }), { error: 'invalid_plant' }],
    ['a size', post(plantText(1).padStart(65_537), { more }), { error: 'body_too_large' }],
    ['headers', request({ more: [...more, ...headerLines] }), { error: 'headers_too_large' }],
    ['framing', request({ more: [...more, 'Host: other.test'] }), malformed],
    ['a target', request({ more, line: 'POST http:// HTTP/1.1' }), malformed],
    ['a chunk', postChunks('zz\r\n', { more }), malformed],
  ] as const)('a page can read what is wrong about %s', async (_claim, sent, error) => {
    expectReply(await server.ask(sent), { ...error, headers: { ...readable } })
  })

  test('another origin is let in with a token, but its page cannot read the response', async () => {
    const response = await server.ask(request({ more: ['Origin: https://evil.test'] }))
    expectReply(response, { plant, headers: closed })
  })
})

describe('where no origin is listed', () => {
  const server = useWireServer()

  test('a preflight is a request without a credential, and no response mentions origins', () =>
    server.refuses(preflight(ORIGIN), missing))

  test('a request with an origin is a request like any other', () =>
    server.accepts(request({ more })))
})
