import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, test } from 'vitest'
import { wantsIdentity, wantsJson } from './expectations.ts'
import { type Refusal, useWireServer } from './harness.ts'
import { chunk, plantText, post, postChunks, request, withLines } from './request.ts'

const server = useWireServer()

const plant = plantText(1)

const json = (parameters: string) => `application/json${parameters}`
const coded = (coding: string, body: string | Uint8Array = plant) =>
  post(body, { more: [`Content-Encoding: ${coding}`] })

describe.each(
  Object.entries({
    'in any case': [json(''), 'APPLICATION/JSON', 'Application/Json'],
    'with blanks': [json('; charset=utf-8'), json(';charset=utf-8'), json(' ; charset=utf-8')],
    'with blanks around': ['  application/json  ', json(';')],
    'with a charset in any case': [json('; charset=UTF-8'), json('; CHARSET=Utf-8')],
    'with a quoted charset': [json('; charset="utf-8"'), json('; charset="UTF-8"')],
    'with other parameters': [json('; version=1'), json('; version=1; charset=utf-8')],
    'with a quoted parameter': [json('; version="a;\\"b"; charset="utf-8"')],
  }),
)('JSON in UTF-8 is accepted, %s:', (_theme, types) => {
  test.each(types)('"%s"', (contentType) => server.accepts(request({ contentType })))
})

describe.each(
  Object.entries({
    'other media types': ['text/plain', 'text/json', 'application/octet-stream'],
    'types of forms': ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
    'kinds of JSON': ['application/vnd.api+json', 'application/problem+json', json('+x')],
    'names that are longer': [json('x'), json('5'), 'application/x-ndjson', json('/x')],
    'parts of a name': ['application', 'json', ';', ''],
    wildcards: ['*/*', 'application/*'],
    lists: [
      'application /json',
      json(' text/plain'),
      json(', text/plain'),
      json(', application/json'),
    ],
    'JSON as a parameter': ['text/plain; application/json', 'text/plain; x="application/json"'],
    'charsets of bytes': [json('; charset=iso-8859-1'), json('; charset=us-ascii')],
    'UTF-16 and UTF-7': [
      json('; charset=utf-16'),
      json('; charset=utf-16le'),
      json('; charset=utf-7'),
    ],
    'misspelled charsets': [json('; charset=utf8'), json('; charset=utf-8x'), json('; charset=""')],
    'quoted charsets': [json('; charset="utf-16"'), json('; x="; charset=utf-16')],
    'open quotes': [
      json('; charset="utf-16'),
      json('; charset="utf-8'),
      json('; charset="utf-16\\"'),
    ],
    'two charsets': [
      json('; charset=utf-16; charset=utf-8'),
      json('; charset=utf-8; charset=utf-16'),
    ],
    'charsets behind another': [json('; x=1; charset=utf-16')],
  }),
)('refused are %s:', (_theme, types) => {
  test.each(types)('"%s"', (contentType) => server.refuses(request({ contentType }), wantsJson))
})

describe('a media type is refused:', () => {
  const utf16 = Buffer.from(`\ufeff${plant}`, 'utf16le')
  const plain = { contentType: 'text/plain' }
  test.each<Refusal>([
    ['none', request({ contentType: null }), wantsJson],
    ['UTF-16 of UTF-16', post(utf16, { contentType: json('; charset=utf-16') }), wantsJson],
    ['twice the same', withLines('Content-Type: application/json'), wantsJson],
    ['two', withLines('Content-Type: text/plain'), wantsJson],
    ['one and an empty one', withLines('Content-Type: '), wantsJson],
    [
      'two in another order',
      request({ ...plain, more: ['content-type: application/json'] }),
      wantsJson,
    ],
    ['before the size of the body', post('x'.repeat(70_000), plain), wantsJson, 'closed'],
    ['before the JSON', post('{', plain), wantsJson],
    ['without reading chunks', postChunks(chunk(plant), plain), wantsJson, 'lingering'],
  ])('%s', (_claim, ...refusal) => server.refuses(...refusal))
})

describe('a body with a content coding is refused:', () => {
  test.each<Refusal>([
    ['gzip', coded('gzip', gzipSync(plant)), wantsIdentity],
    ['x-gzip', coded('x-gzip', gzipSync(plant)), wantsIdentity],
    ['deflate', coded('deflate', deflateSync(plant)), wantsIdentity],
    ['br', coded('br', brotliCompressSync(plant)), wantsIdentity],
    ['gzip, gzip', coded('gzip, gzip', gzipSync(gzipSync(plant))), wantsIdentity],
    ['GZIP', coded('GZIP', gzipSync(plant)), wantsIdentity],
    ['a gzip bomb of 10 MB', coded('gzip', gzipSync(Buffer.alloc(10_000_000))), wantsIdentity],
    [
      'gzip that does not say so',
      post(gzipSync(plant)),
      { error: 'malformed_json', message: /UTF-8/ },
    ],
  ])('%s', (_claim, ...refusal) => server.refuses(...refusal))

  test.each(['gzip', 'identity', 'zstd', 'aws-chunked', 'x'])('%s, though it is plain', (coding) =>
    server.refuses(coded(coding), wantsIdentity),
  )
})
