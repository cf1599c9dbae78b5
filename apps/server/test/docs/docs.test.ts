import { type ErrorName, errorTable, MAX_JSON_DEPTH, MAX_JSON_VALUES } from '@plant-store/contract'
import { errorTexts } from '@plant-store/contract/error-texts'
import { describe, expect, test } from 'vitest'
import { readRoot } from '../../../../test/root.ts'
import { settings } from '../../src/config/settings.ts'
import { page, writeOpenApi } from '../../src/http/docs.ts'
import { expectReply, headerOf } from '../wire/expectations.ts'
import { useWireServer } from '../wire/harness.ts'
import { get, plantText, post, type RequestParts, request } from '../wire/request.ts'

const text = readRoot('packages/contract/openapi.json')
const DOCUMENT = '/openapi.json'
const PATHS = [DOCUMENT, '/openapi-3.0.json', ...page.paths]
const ORIGIN = 'https://plants.example'

const server = useWireServer()
const known = useWireServer({ publicUrl: 'https://plants.test/store' })
const quiet = useWireServer({ docs: 'off' })
const limited = useWireServer({ rateLimit: '1', corsOrigins: ORIGIN })

/** A path with the token that opens the service. */
const withToken = (path: string) => request({ line: `GET ${path} HTTP/1.1` })

describe.each(PATHS)('%s', (path) => {
  test('is there without a credential, for GET and HEAD only', async () => {
    const { status, headers, body } = await server.ask(get(path))
    expect(status).toBe(200)
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': ['private, no-cache'],
      'x-content-type-options': ['nosniff'],
      'x-request-id': [expect.stringMatching(/^[\w-]{36}$/)],
      etag: [expect.stringMatching(/^"[\w-]{43}"$/)],
    })
    expect(headers.has('x-powered-by')).toBe(false)
    const head = await server.ask(get(path, { line: `HEAD ${path} HTTP/1.1` }), false)
    expect(head.status).toBe(200)
    expect(headerOf(head, 'content-length')).toBe(String(Buffer.byteLength(body)))
    expect(head.headers.get('etag')).toEqual(headers.get('etag'))
    for (const method of ['POST', 'OPTIONS']) {
      const sent = get(path, { line: `${method} ${path} HTTP/1.1` })
      const allow = { allow: 'GET, HEAD' }
      expectReply(await server.ask(sent), { error: 'method_not_allowed', headers: allow })
    }
  })

  test('is not sent again to a caller that has it', async () => {
    const entityTag = headerOf(await server.ask(get(path)), 'etag') ?? ''
    const askWith = (condition: string, hasBody: boolean) =>
      server.ask(get(path, { more: [`If-None-Match: ${condition}`] }), hasBody)
    for (const condition of [entityTag, `"other", W/${entityTag}`, '*']) {
      const { status, headers, body } = await askWith(condition, false)
      expect({ status, body }).toEqual({ status: 304, body: '' })
      expect(headers.get('etag')).toEqual([entityTag])
    }
    expect((await askWith('"other"', true)).status).toBe(200)
  })

  test('is of no rate, and can be read by a page of a listed origin', async () => {
    for (let count = 0; count < 5; count++) {
      const { status, headers } = await limited.ask(get(path))
      expect(status).toBe(200)
      expect([headers.has('ratelimit'), headers.has('ratelimit-policy')]).toEqual([false, false])
      expect(headers.get('vary')).toContain('Origin')
    }
    const { headers } = await limited.ask(get(path, { more: [`Origin: ${ORIGIN}`] }))
    expect(headers.get('access-control-allow-origin')).toEqual([ORIGIN])
    expect(headers.get('vary')).toContain('Origin')
  })

  test('is not there where it is switched off', async () => {
    expectReply(await quiet.ask(get(path)), { error: 'missing_credentials' })
    expectReply(await quiet.ask(withToken(path)), { error: 'not_found' })
  })
})

test.each([
  ...['/openapi', '/openapi.json/', '/OpenAPI.json', '//openapi.json', '/%6fpenapi.json'],
  ...['/docs/', '/docs/index.html', '/docs/../docs', '/x?/openapi.json'],
])('%s is a path like any other, and needs a credential', async (path) => {
  expectReply(await server.ask(get(path)), { error: 'missing_credentials' })
  expectReply(await server.ask(withToken(path)), { error: 'not_found' })
})

test('a browser that asks for / is sent to the page, and nobody else is', async () => {
  const browser = { more: ['Accept: text/html,application/xhtml+xml,*/*;q=0.8'] }
  const caller = await server.open()
  caller.send(Buffer.concat([get('/?from=mail', browser), get('/docs', browser)]))
  const { status, headers, body } = await caller.readReply()
  expect([status, headers.get('location'), body]).toEqual([303, ['docs'], ''])
  expect((await caller.readReply()).status).toBe(200)
  const others = [get('/'), get('/x', browser), get('/', { ...browser, line: 'POST / HTTP/1.1' })]
  for (const sent of others) expectReply(await server.ask(sent), { error: 'missing_credentials' })
  expectReply(await quiet.ask(get('/', browser)), { error: 'missing_credentials' })
})

describe('the document', () => {
  test('is the committed one, byte for byte, and there in OpenAPI 3.0 as the command prints it', async () => {
    const document = await server.ask(get(DOCUMENT))
    const older = await server.ask(get('/openapi-3.0.json'))
    expect(document.body).toBe(text)
    expect(older.body).toBe(await writeOpenApi('json-3.0'))
    expect(JSON.parse(older.body).openapi).toBe('3.0.3')
    const other = await known.ask(get(DOCUMENT))
    const replies = [document, older, other]
    for (const reply of replies) expect(headerOf(reply, 'content-type')).toBe('application/json')
    expect(new Set(replies.map((reply) => headerOf(reply, 'etag'))).size).toBe(3)
  })

  test('leaves the connection to the next request, even with a body', async () => {
    const withBody = get(DOCUMENT, { framing: 'Content-Length: 2', body: '{}' })
    const caller = await server.open()
    caller.send(Buffer.concat([get(DOCUMENT), post(plantText(1)), withBody]))
    expect((await caller.readReply()).status).toBe(200)
    const { id: _id, ...plant } = JSON.parse(plantText(1))
    expectReply(await caller.readReply(), { plant })
    expect((await caller.readReply()).status).toBe(200)
  })

  test('with a broken body is refused once, without an error of the server', async () => {
    const sent = get(DOCUMENT, { framing: 'Transfer-Encoding: chunked', body: 'zz\r\n' })
    expectReply(await server.ask(sent), { error: 'malformed_request' })
    expect((await server.readLog()).join('')).not.toContain('"level":"error"')
  })

  test('ends the connection of a caller whose body goes on', async () => {
    const caller = await server.open()
    caller.send(get(DOCUMENT, { framing: 'Content-Length: 1000', body: '{' }))
    expect(headerOf(await caller.readReply(), 'connection')).toBe('close')
    caller.finish()
    expect(String(await caller.readToEnd())).toBe('')
  })

  const ABSOLUTE = 'GET http://plants.test/openapi.json HTTP/1.1'
  const OLD = 'GET /openapi.json HTTP/1.0'
  const FORWARDED = ['X-Forwarded-Proto: https', 'X-Forwarded-Host: a.test']
  test.each<[claim: string, parts: RequestParts]>([
    ['any Host', { host: 'attacker.test:8080' }],
    ['the words of a proxy', { more: FORWARDED }],
    ['a target with a host', { line: ABSOLUTE, host: 'plants.test' }],
    ['no Host', { line: OLD, host: null, more: ['Connection: close'] }],
  ])('has its own place or the public URL as the base address, with %s', async (_claim, parts) => {
    for (const [asked, url] of [
      [server, '/'],
      [known, 'https://plants.test/store'],
    ] as const) {
      const { body } = await asked.ask(get(DOCUMENT, parts))
      expect(JSON.parse(body).servers).toEqual([expect.objectContaining({ url })])
    }
  })

  const bytes = settings.bodyLimitBytes.initial
  test.each([
    `nested deeper than ${MAX_JSON_DEPTH} levels`,
    `holds more than ${MAX_JSON_VALUES} values`,
    `longer than the server takes, ${Number(bytes) / 1024} KiB by default`,
    `must not exceed ${bytes} bytes`,
  ])('states a limit as the server has it: %s', (words) => {
    expect(text).toContain(words)
  })
})

describe('the page', () => {
  test('may run nothing but what this server sends', async () => {
    for (const path of page.paths) {
      const reply = await server.ask(get(path))
      const policy = headerOf(reply, 'content-security-policy') ?? ''
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toMatch(/unsafe|\*|http/)
      expect(headerOf(reply, 'referrer-policy')).toBe('no-referrer')
    }
  })

  test('has at most 30 KB, and names files of this server only', async () => {
    const files = await Promise.all(page.paths.map((path) => server.ask(get(path))))
    expect(files.reduce((sum, { body }) => sum + body.length, 0)).toBeLessThan(30_000)
    const { body } = await server.ask(get('/docs'))
    for (const [, address = ''] of body.matchAll(/(?:src|href)="([^"]*)"/g)) {
      // Relative ones, which hold under the prefix of a proxy too.
      if (address.startsWith('#')) expect(body).toContain(` id="${address.slice(1)}"`)
      else expect((await server.ask(get(`/${address}`))).status, address).toBe(200)
    }
    expect(body).not.toMatch(/<script>|<style|\son\w+=|\sstyle=|\{\{/)
  })

  test('without its script holds the errors, the rules and a command', async () => {
    const { body } = await server.ask(get('/docs'))
    const plain = body
      .replace(/<[^>]*>/g, ' ')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&')
    const shown = plain.replace(/\s+/g, ' ')
    for (const [name, { code, status, stored }] of Object.entries(errorTable)) {
      const { meaning } = errorTexts[name as ErrorName]
      const words = [code, name, status, meaning, stored]
      expect(shown).toContain(words.join(' '))
    }
    expect(shown).toMatch(/id required The .* from -9223372036854775808 to 9223372036854775807/)
    expect(shown).toMatch(/name required The name .* tag optional A tag /)
    expect(shown).toContain("curl -i 'http://127.0.0.1:3000/plants' \\ -H")
  })
})
