import { expect } from 'vitest'
import { type ServerProcess, startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import type { OtlpReceiver, ReceivedSpan } from './otlp-receiver.ts'

/** A server that sends its spans to a receiver. */
export async function startTraced(
  receiver: Pick<OtlpReceiver, 'url'>,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  return startServerProcess({
    folder: temporaryFolder(),
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...environment },
  })
}

/** A request; of a good plant where nothing else is said. */
export interface Sent {
  readonly body?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The body for a plant. */
export function plantText(id: number, name = 'Fern'): string {
  return JSON.stringify({ id, name })
}

/** Sends one request with the server's own token. */
export function post(server: ServerProcess, { body, path = '/plants', headers }: Sent = {}) {
  return fetch(`${server.url}${path}`, {
    method: 'POST',
    body: body ?? plantText(1),
    headers: {
      authorization: `Bearer ${server.token}`,
      'content-type': 'application/json',
      ...headers,
    },
  })
}

/** Every span that the server sent, the last ones at its end. */
export async function endAndCollect(
  server: ServerProcess,
  receiver: OtlpReceiver,
): Promise<ReceivedSpan[]> {
  server.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0, signal: null })
  return receiver.spans()
}
