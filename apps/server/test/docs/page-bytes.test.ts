import { get as httpGet, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { page } from '../../src/http/docs/page.ts'
import { overviewFiles } from '../../src/telemetry/overview/overview.ts'
import { useWireServer } from '../wire/harness.ts'

const server = useWireServer()

interface Got extends Pick<IncomingMessage, 'statusCode' | 'headers'> {
  readonly bytes: Buffer
}

/** What a caller gets that takes these codings; without any it does not say which it takes. */
async function read(
  path: string,
  codings?: string,
  { port = server.port, known }: { readonly port?: number; readonly known?: string } = {},
): Promise<Got> {
  const headers = {
    ...(codings !== undefined && { 'accept-encoding': codings }),
    ...(known && { 'if-none-match': known }),
  }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  httpGet({ host: '127.0.0.1', port, path, headers }, resolve).on('error', reject)
  const reply = await promise
  return { statusCode: reply.statusCode, headers: reply.headers, bytes: await buffer(reply) }
}

const decoders = { br: brotliDecompressSync, gzip: gunzipSync } as const

test('the page has at most 120 KB, 40 KB as gzip', async () => {
  const sizeOf = async (codings: string) => {
    const replies = await Promise.all(page.paths.map((path) => read(path, codings)))
    return replies.reduce((sum, { bytes }) => sum + bytes.length, 0)
  }
  const plain = await sizeOf('identity')
  const gzip = await sizeOf('gzip')
  expect(plain).toBeGreaterThan(20_000)
  expect(plain).toBeLessThanOrEqual(120_000)
  expect(gzip).toBeLessThanOrEqual(40_000)
  expect(await sizeOf('br')).toBeLessThan(gzip)
})

describe.each(page.paths)('%s', (path) => {
  test.each([
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['deflate, zstd', undefined],
    ['br;q=0, gzip;q=0', undefined],
    ['*;q=0', undefined],
    ['gzip', 'gzip'],
    ['GZIP;q=0.1', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['*', 'br'],
  ] as const)('to a caller that takes %j is sent as %s', async (codings, coding) => {
    const plain = await read(path, 'identity')
    const { headers, bytes } = await read(path, codings)
    expect(headers['content-encoding']).toBe(coding)
    expect(headers.vary).toContain('Accept-Encoding')
    expect(headers['content-type']).toBe(plain.headers['content-type'])
    expect(headers['content-length']).toBe(String(bytes.length))
    const decoded = coding === undefined ? bytes : decoders[coding](bytes)
    expect(decoded.equals(plain.bytes)).toBe(true)
  })

  test('has a tag for each form, and is not sent again to who has that form', async () => {
    const tags = new Set<string>()
    for (const coding of ['identity', 'gzip', 'br']) {
      const { headers } = await read(path, coding)
      const { etag = '' } = headers
      tags.add(etag)
      const again = await read(path, coding, { known: etag })
      expect(again.statusCode).toBe(304)
      expect(again.headers).toMatchObject({ etag, vary: headers.vary })
      expect(again.headers).not.toHaveProperty('content-encoding')
    }
    expect(tags.size).toBe(3)
    const [known] = tags
    expect((await read(path, 'br', { known: known ?? '' })).statusCode).toBe(200)
  })
})

test('the page for operators is sent compressed, too', async () => {
  for (const path of overviewFiles.paths) {
    const { headers } = await read(path, 'br, gzip', { port: server.operationsPort })
    expect(headers['content-encoding']).toBe('br')
  }
})

test('the document, which is made at run time, is not', async () => {
  const { headers } = await read('/openapi.json', 'br, gzip')
  expect(headers).not.toHaveProperty('content-encoding')
  expect(headers.vary ?? '').not.toContain('Accept-Encoding')
})
