import { createOpaqueToken } from '../../src/auth/tokens.ts'
import type { StoredPlant } from './database-under-test.ts'
import type { Bytes } from './raw-socket.ts'

/** The token that opens the server of a test file. */
export const token = createOpaqueToken()

/** The name of the plant of most requests; it must never reach a log. */
export const PLANT_NAME = 'Monstera deliciosa'

/** What differs from a good request. A header is given by its value; null leaves its line out. */
export interface RequestParts {
  readonly line?: string
  readonly host?: string | null
  readonly authorization?: string | null
  readonly contentType?: string | null
  /** The line that frames the body: by default a Content-Length that is true. */
  readonly framing?: string | null
  /** More header lines, before the one that frames the body. */
  readonly more?: readonly string[]
  readonly body?: Bytes
}

/** The bytes of a request. Its head is latin1, so that any byte can stand in it. */
export function request(parts: RequestParts = {}): Buffer {
  const body = Buffer.from(parts.body ?? plantText(1))
  const {
    line = 'POST /plants HTTP/1.1',
    host = 'plants.test',
    authorization = `Bearer ${token.text}`,
    contentType = 'application/json',
    framing = `Content-Length: ${body.length}`,
    more = [],
  } = parts
  const headers = { Host: host, Authorization: authorization, 'Content-Type': contentType }
  const named = Object.entries(headers).filter(([, value]) => value !== null)
  const lines = [line, ...named.map(([name, value]) => `${name}: ${value}`), ...more]
  if (framing !== null) lines.push(framing)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

/** A request that is good but for its body. */
export const post = (body: Bytes, parts: RequestParts = {}) => request({ ...parts, body })

/** A good request but for more header lines. */
export const withLines = (...more: readonly string[]) => request({ more })

/** A good request whose body is sent in chunks as written. */
export function postChunks(chunks: Bytes, parts: RequestParts = {}): Buffer {
  return request({ ...parts, framing: 'Transfer-Encoding: chunked', body: chunks })
}

/** One chunk of a chunked body (RFC 9112 §7.1). */
export function chunk(content: string): string {
  return `${Buffer.byteLength(content).toString(16)}\r\n${content}\r\n`
}

export const LAST_CHUNK = '0\r\n\r\n'

/** A body in one chunk. */
export const inChunk = (content: string) => chunk(content) + LAST_CHUNK

/** What a caller without a credential sends to read something. */
export function get(path: string, parts: RequestParts = {}): Buffer {
  const bare = { authorization: null, contentType: null, framing: null, body: '' }
  return request({ line: `GET ${path} HTTP/1.1`, ...bare, ...parts })
}

/** What a browser asks before a page of this origin may send a create. */
export function preflight(origin: string, parts: RequestParts = {}): Buffer {
  const more = [`Origin: ${origin}`, 'Access-Control-Request-Method: POST']
  return get('', { line: 'OPTIONS /plants HTTP/1.1', more, ...parts })
}

/** The JSON of a good plant; `id` is its literal. */
export function plantText(id: number | bigint | string): string {
  return `{"id":${id},"name":"${PLANT_NAME}"}`
}

/** What is stored for `plantText(id)`. */
export function plantOf(id: number | bigint): StoredPlant {
  return { id: BigInt(id), name: PLANT_NAME }
}
