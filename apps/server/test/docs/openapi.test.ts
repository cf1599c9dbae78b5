import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { expectReply, headerOf } from '../wire/expectations.ts'
import { useWireServer } from '../wire/harness.ts'
import type { Bytes, Reply } from '../wire/raw-socket.ts'
import { plantText, post, type RequestParts, request } from '../wire/request.ts'
import { get } from './get.ts'

const committed = JSON.parse(
  readFileSync(new URL('../../../../packages/contract/openapi.json', import.meta.url), 'utf8'),
)

const server = useWireServer()

async function ask(sent: Bytes, hasBody = true): Promise<Reply> {
  const caller = await server.open()
  caller.send(sent)
  return caller.readReply({ hasBody })
}

async function readServers(parts: RequestParts): Promise<unknown> {
  const { body } = await ask(get('/openapi.json', parts))
  return JSON.parse(body).servers.map(({ url }: { url: string }) => url)
}

describe('the document that is served', () => {
  test('is the committed one, with the base address of the request', async () => {
    const { status, body } = await ask(get('/openapi.json'))
    expect(status).toBe(200)
    const { servers, ...document } = JSON.parse(body)
    expect(servers).toMatchObject([{ url: 'http://plants.test' }])
    expect(document).toEqual({ ...committed, servers: undefined })
    expect(body).toMatch(/"minimum": -9223372036854775808,\s+"maximum": 9223372036854775807\s/)
  })

  test('is the same as YAML', async () => {
    const { status, headers, body } = await ask(get('/openapi.yaml'))
    expect(status).toBe(200)
    expect(headers.get('content-type')).toEqual(['application/yaml'])
    expect(parse(body)).toEqual(JSON.parse((await ask(get('/openapi.json'))).body))
  })

  test('comes with headers that say what it is and how long it may be kept', async () => {
    const { headers } = await ask(get('/openapi.json'))
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': ['application/json'],
      'cache-control': ['private, no-cache'],
      'x-content-type-options': ['nosniff'],
      'x-request-id': [expect.stringMatching(/^[\w-]{36}$/)],
      etag: [expect.stringMatching(/^"[\w-]{43}"$/)],
    })
    expect(headers.has('x-powered-by')).toBe(false)
  })

  test.each(['/openapi.json', '/openapi.yaml'])('%s is the same bytes each time', async (path) => {
    const [one, other] = [await ask(get(path)), await ask(get(path))]
    expect(one.body).toBe(other.body)
    expect(headerOf(one, 'etag')).toBe(headerOf(other, 'etag'))
  })

  test('is not sent again to a caller that has it', async () => {
    const entityTag = headerOf(await ask(get('/openapi.json')), 'etag') ?? ''
    for (const condition of [entityTag, `"other", W/${entityTag}`, '*']) {
      const sent = get('/openapi.json', { more: [`If-None-Match: ${condition}`] })
      const { status, headers, body } = await ask(sent, false)
      expect({ status, body }).toEqual({ status: 304, body: '' })
      expect(headers.get('etag')).toEqual([entityTag])
    }
    const changed = get('/openapi.json', { more: ['If-None-Match: "other"'] })
    expect((await ask(changed)).status).toBe(200)
  })

  test('has different tags for different text', async () => {
    const tags = [
      await ask(get('/openapi.json')),
      await ask(get('/openapi.yaml')),
      await ask(get('/openapi.json', { host: 'other.test' })),
    ].map((reply) => headerOf(reply, 'etag'))
    expect(new Set(tags).size).toBe(3)
  })

  test('answers HEAD with the headers of GET', async () => {
    const { headers, body } = await ask(get('/openapi.json'))
    const head = get('/openapi.json', { line: 'HEAD /openapi.json HTTP/1.1' })
    const reply = await ask(head, false)
    expect(reply.status).toBe(200)
    expect(headerOf(reply, 'content-length')).toBe(String(Buffer.byteLength(body)))
    expect(headerOf(reply, 'etag')).toBe(headers.get('etag')?.join())
  })

  test('leaves the connection to the next request, even with a body', async () => {
    const caller = await server.open()
    const withBody = get('/openapi.json', { framing: 'Content-Length: 2', body: '{}' })
    caller.send(Buffer.concat([get('/openapi.json'), post(plantText(1)), withBody]))
    expect((await caller.readReply()).status).toBe(200)
    expectReply(await caller.readReply(), { plant: JSON.parse(plantText(1), dropId) })
    expect((await caller.readReply()).status).toBe(200)
  })

  test('with a broken body is refused once, without an error of the server', async () => {
    const sent = get('/openapi.json', { framing: 'Transfer-Encoding: chunked', body: 'zz\r\n' })
    expectReply(await ask(sent), { error: 'malformed_request' })
    expect((await server.readLog()).join('')).not.toContain('"level":"error"')
  })

  test('ends the connection of a caller whose body goes on', async () => {
    const caller = await server.open()
    caller.send(get('/openapi.json', { framing: 'Content-Length: 1000', body: '{' }))
    expect(headerOf(await caller.readReply(), 'connection')).toBe('close')
    caller.finish()
    expect(String(await caller.readToEnd())).toBe('')
  })
})

function dropId(key: string, value: unknown): unknown {
  return key === 'id' ? undefined : value
}

describe('the base address in it', () => {
  test.each([
    ['plants.test:8080', 'http://plants.test:8080'],
    ['[::1]:3000', 'http://[::1]:3000'],
    ["it's&$.test", "http://it's&$.test"],
  ])('is of the Host %s', async (host, url) => {
    expect(await readServers({ host })).toEqual([url])
  })

  test('is the place of the document where the Host is no part of a URL', async () => {
    expect(await readServers({ host: 'plants.test:99999' })).toEqual(['/'])
    const oldest = { line: 'GET /openapi.json HTTP/1.0', host: null, more: ['Connection: close'] }
    expect(await readServers(oldest)).toEqual(['/'])
  })

  test.each(['a"b', 'a b', 'a/b', 'a<b>', 'a\\b', 'user@plants.test', ''])(
    'is never of a Host that HTTP forbids: %j',
    async (host) => {
      expectReply(await ask(get('/openapi.json', { host })), { error: 'malformed_request' })
    },
  )
})

describe('other requests for it', () => {
  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'])(
    '%s is answered 405 with GET and HEAD',
    async (method) => {
      const sent = get('/openapi.json', { line: `${method} /openapi.json HTTP/1.1` })
      const headers = { allow: 'GET, HEAD' }
      expectReply(await ask(sent), { error: 'method_not_allowed', headers })
    },
  )

  test.each(['/openapi', '/openapi.json/', '/OpenAPI.json', '//openapi.json', '/%6fpenapi.json'])(
    '%s is a path like any other, and needs a credential',
    async (path) => {
      expectReply(await ask(get(path)), { error: 'missing_credentials' })
    },
  )

  test('a create still needs a credential, however its target is written', async () => {
    for (const target of ['/plants', 'http://plants.test/plants', '/plants?/openapi.json']) {
      const line = `POST ${target} HTTP/1.1`
      const sent = request({ line, authorization: null })
      expectReply(await ask(sent), { error: 'missing_credentials' })
    }
  })
})

describe('with a public URL', () => {
  const known = useWireServer({ publicUrl: 'https://plants.test/store' })

  test('it stands in the document whatever the Host', async () => {
    const caller = await known.open()
    caller.send(get('/openapi.json', { host: 'other.test' }))
    const { servers } = JSON.parse((await caller.readReply()).body)
    expect(servers).toMatchObject([{ url: 'https://plants.test/store' }])
  })
})

describe('switched off', () => {
  const quiet = useWireServer({ docs: 'off' })

  test.each(['/openapi.json', '/openapi.yaml'])('%s is not there', async (path) => {
    const caller = await quiet.open()
    caller.send(get(path))
    expectReply(await caller.readReply(), { error: 'missing_credentials' })
    caller.send(request({ line: `GET ${path} HTTP/1.1` }))
    expectReply(await caller.readReply(), { error: 'not_found' })
  })
})
