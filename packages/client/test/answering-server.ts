import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface ReceivedRequest {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface AnsweringServer extends AsyncDisposable {
  readonly url: string
  /** What arrived, in order. */
  readonly received: readonly ReceivedRequest[]
}

export type Answer = (response: ServerResponse, request: ReceivedRequest) => void

/** Answers with a value as JSON, or with a string as it is. */
export function answerWith(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** A server on a free port of this machine, which gives every request the same answer. */
export async function startAnsweringServer(answer: Answer): Promise<AnsweringServer> {
  const received: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const { method, url: path, headers } = request
    const arrived = { method, path, headers, body: await text(request) }
    received.push(arrived)
    answer(response, arrived)
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
