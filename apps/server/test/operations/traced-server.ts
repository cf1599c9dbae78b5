import { expect } from 'vitest'
import { type ServerProcess, startServerProcess } from '../process/server-process.ts'
import type { OtlpReceiver, ReceivedSpan } from './otlp-receiver.ts'

/** A server that sends its spans to a receiver. */
export async function startTraced(
  receiver: Pick<OtlpReceiver, 'url'>,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  return startServerProcess({
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...environment },
  })
}

/** Every span that the server sent, the last ones at its end. */
export async function endAndCollect(
  server: ServerProcess,
  receiver: OtlpReceiver,
): Promise<ReceivedSpan[]> {
  expect(await server.end()).toMatchObject({ code: 0, signal: null })
  return receiver.spans()
}
