import { connect, createServer, type Socket } from 'node:net'
import { listen } from './listen.ts'

/** Where and how an exchange is cut. */
export interface Cut {
  readonly direction: 'request' | 'response'
  /** How many bytes of that direction still pass. */
  readonly afterBytes: number
  /**
   * A TCP reset, or an end in order, of both connections; or an end towards the reader of the
   * direction only, so that the other direction goes on.
   */
  readonly ending: 'reset' | 'end' | 'half'
  /** How many connections are cut, the first first. */
  readonly connections: number
}

/** Passes bytes on until `limit` of them have; what then passes has left this process before the cut. */
function relay(from: Socket, to: Socket, limit: number, cut: () => void): void {
  let left = limit
  let isCut = false
  from.on('error', () => to.destroy()).on('close', () => to.end())
  from.on('data', (bytes: Buffer) => {
    if (isCut || !to.writable) return
    isCut = bytes.length >= left
    if (!isCut) to.write(bytes)
    else if (left > 0) to.write(bytes.subarray(0, left), cut)
    else cut()
    left -= bytes.length
  })
}

/** A TCP proxy on a port of its own, which may cut its first connections at a byte. */
export async function startTcpProxy(firstTarget: number, cut?: Cut) {
  let port = firstTarget
  const sockets: Socket[] = []
  const server = createServer({ noDelay: true }, (response) => {
    const request = connect({ host: '127.0.0.1', port, noDelay: true })
    const own = sockets.length < 2 * (cut?.connections ?? 0) ? cut : undefined
    sockets.push(request, response)
    const end = () => {
      const ended =
        own?.ending === 'half' ? [{ request, response }[own.direction]] : [request, response]
      for (const socket of ended) own?.ending === 'reset' ? socket.resetAndDestroy() : socket.end()
    }
    const limitOf = (direction: Cut['direction']) =>
      own?.direction === direction ? own.afterBytes : Number.POSITIVE_INFINITY
    relay(response, request, limitOf('request'), end)
    relay(request, response, limitOf('response'), end)
    if (limitOf('request') === 0) end()
  })
  const own = await listen(server, () => {})
  return {
    port: own,
    url: `http://127.0.0.1:${own}`,
    /** Leads new connections to another port; those that are open stay. */
    lead(to: number) {
      port = to
    },
    /** Bytes that have come from the caller, and from the server. */
    passed: () => ({ request: sockets[1]?.bytesRead ?? 0, response: sockets[0]?.bytesRead ?? 0 }),
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
