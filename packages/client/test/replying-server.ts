import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface ReceivedRequest {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface ReplyingServer extends AsyncDisposable {
  readonly url: string
  /** What arrived, in order. */
  readonly received: readonly ReceivedRequest[]
}

export type Reply = (response: ServerResponse, request: ReceivedRequest) => void

/** Replies with a value as JSON, or with a string as it is. */
export function replyWith(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** A server on a free port of this machine, which gives every request the same reply. */
export async function startReplyingServer(reply: Reply): Promise<ReplyingServer> {
  const received: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const { method, url: path, headers } = request
    const arrived = { method, path, headers, body: await text(request) }
    received.push(arrived)
    reply(response, arrived)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
