import { readFileSync } from 'node:fs'
import { MAX_JSON_DEPTH } from '@plant-store/contract'
import { describe, expect, test } from 'vitest'
import { settings } from '../../src/config/settings.ts'
import { writeOpenApi } from '../../src/http/docs.ts'
import { expectReply, headerOf } from '../wire/expectations.ts'
import { useWireServer } from '../wire/harness.ts'
import { plantText, post, type RequestParts, request } from '../wire/request.ts'
import { ask, get } from './get.ts'

const path = new URL('../../../../packages/contract/openapi.json', import.meta.url)
const text = readFileSync(path, 'utf8')

const server = useWireServer()
const known = useWireServer({ publicUrl: 'https://plants.test/store' })

async function readServers(parts: RequestParts, asked = server): Promise<unknown> {
  const { body } = await ask(asked, get('/openapi.json', parts))
  return JSON.parse(body).servers.map(({ url }: { url: string }) => url)
}

describe('the document that is served', () => {
  test('is the committed one, byte for byte', async () => {
    const { status, body } = await ask(server, get('/openapi.json'))
    expect(status).toBe(200)
    expect(body).toBe(text)
  })

  test('is there in OpenAPI 3.0, as the command prints it', async () => {
    const { status, headers, body } = await ask(server, get('/openapi-3.0.json'))
    expect({ status, contentType: headers.get('content-type') }).toEqual({
      status: 200,
      contentType: ['application/json'],
    })
    expect(body).toBe(await writeOpenApi('json-3.0'))
    expect(JSON.parse(body).openapi).toBe('3.0.3')
  })

  test('comes with headers that say what it is and how long it may be kept', async () => {
    const { headers } = await ask(server, get('/openapi.json'))
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': ['application/json'],
      'cache-control': ['private, no-cache'],
      'x-content-type-options': ['nosniff'],
      'x-request-id': [expect.stringMatching(/^[\w-]{36}$/)],
      etag: [expect.stringMatching(/^"[\w-]{43}"$/)],
    })
    expect(headers.has('x-powered-by')).toBe(false)
  })

  test('is not sent again to a caller that has it', async () => {
    const entityTag = headerOf(await ask(server, get('/openapi.json')), 'etag') ?? ''
    for (const condition of [entityTag, `"other", W/${entityTag}`, '*']) {
      const sent = get('/openapi.json', { more: [`If-None-Match: ${condition}`] })
      const { status, headers, body } = await ask(server, sent, false)
      expect({ status, body }).toEqual({ status: 304, body: '' })
      expect(headers.get('etag')).toEqual([entityTag])
    }
    const changed = get('/openapi.json', { more: ['If-None-Match: "other"'] })
    expect((await ask(server, changed)).status).toBe(200)
  })

  test('has different tags for different text', async () => {
    const tags = [
      await ask(server, get('/openapi.json')),
      await ask(server, get('/openapi-3.0.json')),
      await ask(known, get('/openapi.json')),
    ].map((reply) => headerOf(reply, 'etag'))
    expect(new Set(tags).size).toBe(3)
  })

  test('answers HEAD with the headers of GET', async () => {
    const { headers, body } = await ask(server, get('/openapi.json'))
    const head = get('/openapi.json', { line: 'HEAD /openapi.json HTTP/1.1' })
    const reply = await ask(server, head, false)
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
    expectReply(await ask(server, sent), { error: 'malformed_request' })
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
  test.each<[claim: string, parts: RequestParts]>([
    ['any Host', { host: 'attacker.test:8080' }],
    ['the words of a proxy', { more: ['X-Forwarded-Proto: https', 'X-Forwarded-Host: a.test'] }],
    [
      'a target with a host',
      { line: 'GET http://plants.test/openapi.json HTTP/1.1', host: 'plants.test' },
    ],
    ['no Host', { line: 'GET /openapi.json HTTP/1.0', host: null, more: ['Connection: close'] }],
  ])('is the place of the document, with %s', async (_claim, parts) => {
    expect(await readServers(parts)).toEqual(['/'])
  })
})

describe('other requests for it', () => {
  test.each(['POST', 'OPTIONS'])('%s is answered 405 with GET and HEAD', async (method) => {
    const sent = get('/openapi.json', { line: `${method} /openapi.json HTTP/1.1` })
    const headers = { allow: 'GET, HEAD' }
    expectReply(await ask(server, sent), { error: 'method_not_allowed', headers })
  })

  test.each(['/openapi', '/openapi.json/', '/OpenAPI.json', '//openapi.json', '/%6fpenapi.json'])(
    '%s is a path like any other, and needs a credential',
    async (path) => {
      expectReply(await ask(server, get(path)), { error: 'missing_credentials' })
    },
  )

  test('a create still needs a credential, however its target is written', async () => {
    for (const target of ['/plants', 'http://plants.test/plants', '/plants?/openapi.json']) {
      const line = `POST ${target} HTTP/1.1`
      const sent = request({ line, authorization: null })
      expectReply(await ask(server, sent), { error: 'missing_credentials' })
    }
  })
})

describe('with a public URL', () => {
  test('it stands in the document whatever the Host', async () => {
    for (const host of ['plants.test', 'other.test']) {
      const servers = await readServers({ host }, known)
      expect(servers).toEqual(['https://plants.test/store'])
    }
  })
})

const kibibytes = (bytes: string) => `${Number(bytes) / 1024} KiB`

test.each([
  `nested deeper than ${MAX_JSON_DEPTH} levels`,
  `longer than the server takes, ${kibibytes(settings.bodyLimitBytes.initial)} by default`,
  `must not exceed ${settings.bodyLimitBytes.initial} bytes`,
])('the document states a limit as the server has it: %s', (words) => {
  expect(text).toContain(words)
})
