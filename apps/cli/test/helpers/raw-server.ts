import { type AddressInfo, createServer, type Server } from 'node:net'
import { onTestFinished } from 'vitest'

/** Lets a server listen until the test ends, and returns its port. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** Starts a server that responds to whatever it gets with the same bytes; none end the connection. */
export async function startRawServer(response: string) {
  let received = ''
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      received += chunk
      if (response === '') socket.destroy()
      else socket.end(response)
    })
  })
  return { url: `http://127.0.0.1:${await listen(server)}`, received: () => received }
}
