import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * How long, and for how many bytes, a caller may go on sending a body that nobody reads.
 * Closing at once would reset the connection and could destroy the answer (RFC 9112 §9.6).
 */
const LINGER_MS = 1_000
const LINGER_BYTES = 1_048_576

/** Sends an answer at once, and closes its connection when the caller stops sending or took too long. */
export function endAndClose(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Uint8Array,
): void {
  if (request.complete) {
    response.end(body)
    return
  }
  response.write(body)
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  let received = 0
  request.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (received > LINGER_BYTES) end()
  })
  request.on('end', end)
  request.on('close', end)
}
