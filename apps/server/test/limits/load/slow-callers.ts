import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** How a caller is slow. */
type Slowness = 'slow header' | 'slow body' | 'slow reading' | 'idle'

interface SlowCallersOptions {
  readonly port: number
  readonly counts: Readonly<Record<Slowness, number>>
  readonly requestFor: (id: number) => string
}

/** How often a slow caller sends a byte. */
const BYTE_MS = 200

/** Requests that a caller sends without reading a reply. */
const UNREAD = 100

async function openSockets(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(100, count - sockets.length) }, () =>
      connect({ port, host: '127.0.0.1', noDelay: true }),
    )
    await Promise.all(some.map((socket) => once(socket, 'connect')))
    for (const socket of some) socket.on('error', () => {})
    sockets.push(...some)
  }
  return sockets
}

/** Sends the first bytes of a text at once and the others one by one. */
function drip(socket: Socket, text: string, from: number): void {
  let sent = from
  socket.write(text.slice(0, from), 'latin1')
  const timer = setInterval(() => {
    if (socket.writable && sent < text.length - 1) socket.write(text.charAt(sent++), 'latin1')
  }, BYTE_MS)
  socket.once('close', () => clearInterval(timer))
}

/** Begins to be slow. All except the readers read their replies, so that they notice their end. */
function behave(socket: Socket, slowness: Slowness, request: string): void {
  if (slowness !== 'slow reading') socket.resume()
  const bodyStart = request.indexOf('\r\n\r\n') + 4
  if (slowness === 'slow header') drip(socket, request, 20)
  else if (slowness === 'slow body') drip(socket, request, bodyStart)
  else if (slowness === 'slow reading') socket.write(request.repeat(UNREAD), 'latin1')
  // Idle, and yet no stranger: it keeps its connection alive after a reply.
  else socket.write(request, 'latin1')
}

/** Opens callers that are slow until the server ends them. */
export async function openSlowCallers({ port, counts, requestFor }: SlowCallersOptions) {
  const sockets: Socket[] = []
  const cut = { 'slow header': 0, 'slow body': 0, 'slow reading': 0, idle: 0 }
  const lastCutMs = { ...cut }
  let isOver = false
  for (const [slowness, count] of Object.entries(counts) as [Slowness, number][]) {
    for (const socket of await openSockets(port, count)) {
      const begin = performance.now()
      socket.once('close', () => {
        if (isOver) return
        cut[slowness]++
        lastCutMs[slowness] = performance.now() - begin
      })
      behave(socket, slowness, requestFor(1))
      sockets.push(socket)
    }
  }
  return {
    /** How many of them the server has ended. */
    cut,
    /** When the last of them was ended, in ms since it began to be slow. */
    lastCutMs,
    /** Lets the slow readers read to the end, so that they find out whether they were cut. */
    readToEnd() {
      for (const socket of sockets) socket.resume()
    },
    close() {
      isOver = true
      for (const socket of sockets) socket.destroy()
    },
  }
}
