import type { WireServer } from '../wire/harness.ts'
import type { Bytes, Reply } from '../wire/raw-socket.ts'
import { type RequestParts, request } from '../wire/request.ts'

/** What a caller without a credential sends to read something. */
export function get(path: string, parts: RequestParts = {}): Buffer {
  const bare = { authorization: null, contentType: null, framing: null, body: '' }
  return request({ line: `GET ${path} HTTP/1.1`, ...bare, ...parts })
}

/** The response to one request on a connection of its own. */
export async function ask(server: WireServer, sent: Bytes, hasBody = true): Promise<Reply> {
  const caller = await server.open()
  caller.send(sent)
  return caller.readReply({ hasBody })
}
