import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as requestOverTls } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorTable } from '@plant-store/contract'
import { expect } from 'vitest'
import type { RunningProxy } from './proxy-process.ts'

export interface Received {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: { readonly error?: number; readonly message?: string; readonly name?: string }
}

export interface Call {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly path?: string
  /** The pieces of the body, and the time before each. */
  readonly pieces?: readonly string[]
  readonly pauseMs?: number
  /** Which address of this machine calls. */
  readonly localAddress?: string
}

/** One request on a connection of its own. */
export async function call({ port }: RunningProxy, options: Call): Promise<Received> {
  const { token = '', headers = {}, path = '/plants', pieces = ['{}'], pauseMs = 0 } = options
  const request = requestOverTls({
    ...{ host: '127.0.0.1', port, path, method: 'POST', agent: false },
    rejectUnauthorized: false,
    servername: '',
    ...(options.localAddress && { localAddress: options.localAddress }),
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(pieces.join('')),
      ...headers,
    },
  })
  const answered = once(request, 'response')
  // What fails while a piece is sent is thrown below.
  answered.catch(() => {})
  for (const piece of pieces) {
    await sleep(pauseMs)
    request.write(piece)
  }
  request.end()
  const [response] = (await answered) as [IncomingMessage]
  const text = (await response.toArray()).join('')
  return { status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) }
}

/** An Error body of the contract with its status, and what the server adds to all of its replies. */
export function expectError(
  { status, headers, body }: Received,
  ...names: (keyof typeof errorTable)[]
): void {
  expect(names.map((name) => errorTable[name])).toContainEqual({ code: body.error, status })
  expect(body.message).toEqual(expect.any(String))
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(/^[\w.-]{1,128}$/),
  })
}
