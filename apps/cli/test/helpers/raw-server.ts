import { createServer } from 'node:net'
import { onTestFinished } from 'vitest'

/** A server that answers whatever it gets with bytes of the test's choice. */
export interface RawServer {
  readonly url: string
  /** All that arrived, on every connection. */
  received(): string
}

/** Starts a server on a port of its own, which ends with the test. */
export async function startRawServer(replyTo: (request: string) => string): Promise<RawServer> {
  let received = ''
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      received += chunk
      const reply = replyTo(String(chunk))
      if (reply === '') socket.destroy()
      else socket.end(reply)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}`, received: () => received }
}
