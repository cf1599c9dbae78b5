import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, test } from 'vitest'
import { useWireServer } from './harness.ts'
import { chunk, plantOf, plantText, post, postChunks } from './request.ts'

const server = useWireServer()

const wantsJson = {
  error: 'unsupported_media_type',
  headers: { accept: 'application/json' },
} as const

const wantsIdentity = {
  error: 'unsupported_media_type',
  headers: { 'accept-encoding': 'identity' },
} as const

describe('JSON in UTF-8 is accepted as', () => {
  test.each<[contentType: string]>([
    ['application/json'],
    ['APPLICATION/JSON'],
    ['Application/Json'],
    ['application/json; charset=utf-8'],
    ['application/json;charset=utf-8'],
    ['application/json ; charset=utf-8'],
    ['application/json; charset=UTF-8'],
    ['application/json; CHARSET=Utf-8'],
    ['application/json; charset="utf-8"'],
    ['application/json; charset="UTF-8"'],
    ['application/json;'],
    ['application/json; version=1'],
    ['application/json; version="a;\\"b"; charset="utf-8"'],
    ['application/json; version=1; charset=utf-8'],
    ['  application/json  '],
  ])('"%s"', (contentType) => server.accepts(post(plantText(1), { contentType }), plantOf(1)))
})

describe('another media type or charset is refused:', () => {
  test.each<[contentType: string]>([
    ['text/plain'],
    ['text/json'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/octet-stream'],
    ['application/vnd.api+json'],
    ['application/problem+json'],
    ['application/json+x'],
    ['application/jsonx'],
    ['application/json5'],
    ['application/x-ndjson'],
    ['application/json/x'],
    ['application'],
    ['json'],
    ['*/*'],
    ['application/*'],
    ['application /json'],
    ['application/json text/plain'],
    ['application/json, text/plain'],
    ['application/json, application/json'],
    ['text/plain; application/json'],
    ['text/plain; x="application/json"'],
    [';'],
    [''],
    ['application/json; charset=iso-8859-1'],
    ['application/json; charset=us-ascii'],
    ['application/json; charset=utf-16'],
    ['application/json; charset=utf-16le'],
    ['application/json; charset=utf-7'],
    ['application/json; charset=utf8'],
    ['application/json; charset="utf-16"'],
    ['application/json; charset=utf-8x'],
    ['application/json; charset=""'],
    ['application/json; charset="utf-16'],
    ['application/json; charset="utf-8'],
    ['application/json; charset="utf-16\\"'],
    ['application/json; x="; charset=utf-16'],
    ['application/json; charset=utf-16; charset=utf-8'],
    ['application/json; charset=utf-8; charset=utf-16'],
    ['application/json; x=1; charset=utf-16'],
  ])('"%s"', (contentType) => server.refuses(post(plantText(1), { contentType }), wantsJson))

  test('no Content-Type', () =>
    server.refuses(post(plantText(1), { contentType: null }), wantsJson))

  test('UTF-16 that is declared', () => {
    const body = Buffer.from(`\ufeff${plantText(1)}`, 'utf16le')
    const contentType = 'application/json; charset=utf-16'
    return server.refuses(post(body, { contentType }), wantsJson)
  })

  test.each<[claim: string, second: string]>([
    ['the same', 'application/json'],
    ['another', 'text/plain'],
    ['an empty', ''],
  ])('two Content-Type headers, the second %s', (_claim, second) =>
    server.refuses(post(plantText(1), { more: [`Content-Type: ${second}`] }), wantsJson),
  )

  test('two Content-Type headers, the first another', () =>
    server.refuses(
      post(plantText(1), { contentType: 'text/plain', more: ['content-type: application/json'] }),
      wantsJson,
    ))
})

describe('a body with a content coding is refused:', () => {
  test.each<[coding: string, encode: (text: string) => Uint8Array]>([
    ['gzip', (text) => gzipSync(text)],
    ['x-gzip', (text) => gzipSync(text)],
    ['deflate', (text) => deflateSync(text)],
    ['br', (text) => brotliCompressSync(text)],
    ['gzip, gzip', (text) => gzipSync(gzipSync(text))],
    ['GZIP', (text) => gzipSync(text)],
  ])('%s', (coding, encode) =>
    server.refuses(
      post(encode(plantText(1)), { more: [`Content-Encoding: ${coding}`] }),
      wantsIdentity,
    ),
  )

  test.each<[coding: string]>([['gzip'], ['identity'], ['zstd'], ['aws-chunked'], ['x']])(
    '%s, though the body is plain',
    (coding) =>
      server.refuses(post(plantText(1), { more: [`Content-Encoding: ${coding}`] }), wantsIdentity),
  )

  test('a gzip bomb of 10 MB', () =>
    server.refuses(
      post(gzipSync(Buffer.alloc(10_000_000)), { more: ['Content-Encoding: gzip'] }),
      wantsIdentity,
    ))

  test('gzip that does not say so is no JSON', () =>
    server.refuses(post(gzipSync(plantText(1))), { error: 'malformed_json', message: /UTF-8/ }))
})

describe('the media type is checked', () => {
  test('before the size of the body', () =>
    server.refuses(post('x'.repeat(70_000), { contentType: 'text/plain' }), wantsJson, 'closed'))

  test('before the JSON', () => server.refuses(post('{', { contentType: 'text/plain' }), wantsJson))

  test('without reading chunks', () =>
    server.refuses(
      postChunks(chunk(plantText(1)), { contentType: 'text/plain' }),
      wantsJson,
      'lingering',
    ))
})

test('what the caller would accept changes nothing', async () => {
  for (const accept of ['application/xml', '*/*;q=0', 'text/html, */*;q=0.1', '']) {
    await server.accepts(post(plantText(1), { more: [`Accept: ${accept}`] }), plantOf(1))
    await server.database.removePlants()
  }
})
