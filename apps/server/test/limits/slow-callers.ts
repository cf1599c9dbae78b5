import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { ServerProcess } from '../process/server-process.ts'

/** How a caller is slow. */
type Slowness = 'slow header' | 'slow body' | 'slow reading' | 'idle'

/** How often a slow caller sends a byte. */
const BYTE_MS = 200

/** Requests that a caller sends without reading a response. */
const UNREAD = 100

/** Sends the first bytes of a text at once and the others one by one. */
function drip(socket: Socket, text: string, from: number): void {
  let sent = from
  socket.write(text.slice(0, from))
  const timer = setInterval(() => {
    if (socket.writable && sent < text.length - 1) socket.write(text.charAt(sent++))
  }, BYTE_MS)
  socket.once('close', () => clearInterval(timer))
}

/** Begins to be slow. All except the readers read their responses, so that they notice their end. */
function behave(socket: Socket, slowness: Slowness, request: string): void {
  if (slowness !== 'slow reading') socket.resume()
  if (slowness === 'slow header') drip(socket, request, 20)
  else if (slowness === 'slow body') drip(socket, request, request.indexOf('\r\n\r\n') + 4)
  else if (slowness === 'slow reading') socket.write(request.repeat(UNREAD))
  // Idle, and yet known: it keeps its connection alive after a response.
  else socket.write(request)
}

/** Opens callers that are slow until the server ends them, or the test ends. */
export async function openSlowCallers(
  { port, token }: Pick<ServerProcess, 'port' | 'token'>,
  counts: Readonly<Record<Slowness, number>>,
) {
  const body = '{"id":1,"name":"Fern"}'
  const request = `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const sockets: Socket[] = []
  const cut = { 'slow header': 0, 'slow body': 0, 'slow reading': 0, idle: 0 }
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (const [slowness, count] of Object.entries(counts) as [Slowness, number][]) {
    for (let opened = 0; opened < count; opened++) {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => {})
      await once(socket, 'connect')
      socket.once('close', () => void cut[slowness]++)
      behave(socket, slowness, request)
      sockets.push(socket)
    }
  }
  return {
    /** How many of them the server has ended. */
    cut,
    /** Lets the slow readers read to the end, so that they find out whether they were cut. */
    readToEnd() {
      for (const socket of sockets) socket.resume()
    },
  }
}
