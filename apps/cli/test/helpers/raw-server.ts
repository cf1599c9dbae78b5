import { createServer } from 'node:net'
import { listen } from '../../../../test/listen.ts'

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
