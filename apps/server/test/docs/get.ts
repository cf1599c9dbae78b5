import { type RequestParts, request } from '../wire/request.ts'

/** What a stranger sends to read something. */
export function get(path: string, parts: RequestParts = {}): Buffer {
  const bare = { authorization: null, contentType: null, framing: null, body: '' }
  return request({ line: `GET ${path} HTTP/1.1`, ...bare, ...parts })
}
