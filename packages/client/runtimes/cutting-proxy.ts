import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

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

export interface CuttingProxy {
  readonly url: string
  /** Bytes that have passed: what a whole exchange takes, where nothing was cut. */
  readonly passed: { request: number; response: number }
  close(): void
}

/** One connection through the proxy: the caller's socket and the server's. */
class Relay {
  readonly #sockets: { readonly request: Socket; readonly response: Socket }
  readonly #passed: CuttingProxy['passed']
  readonly #cut: Cut | undefined
  readonly #isOver = { request: false, response: false }
  readonly #seen = { request: 0, response: 0 }

  /** `caller` is where responses go, `target` where requests go. */
  constructor(
    caller: Socket,
    target: Socket,
    passed: CuttingProxy['passed'],
    cut: Cut | undefined,
  ) {
    this.#sockets = { request: target, response: caller }
    this.#passed = passed
    this.#cut = cut
    this.#relay('request', caller, target)
    this.#relay('response', target, caller)
    if (cut?.direction === 'request' && cut.afterBytes === 0) this.#end(cut)
  }

  #relay(direction: Cut['direction'], from: Socket, to: Socket): void {
    from.on('error', () => to.destroy())
    from.on('close', () => to.end())
    from.on('data', (bytes: Buffer) => this.#pass(direction, bytes))
  }

  #pass(direction: Cut['direction'], bytes: Buffer): void {
    const to = this.#sockets[direction]
    if (this.#isOver[direction] || !to.writable) return
    const start = this.#seen[direction]
    this.#seen[direction] += bytes.length
    this.#passed[direction] += bytes.length
    const cut = this.#cut?.direction === direction ? this.#cut : undefined
    if (cut === undefined || this.#seen[direction] < cut.afterBytes) {
      to.write(bytes)
      return
    }
    this.#isOver[direction] = true
    // What may still pass has left this process before the connection is cut.
    if (start < cut.afterBytes)
      to.write(bytes.subarray(0, cut.afterBytes - start), () => this.#end(cut))
    else this.#end(cut)
  }

  #end({ direction, ending }: Cut): void {
    const { request, response } = this.#sockets
    if (ending === 'half') {
      this.#sockets[direction].end()
      return
    }
    this.#isOver.request = true
    this.#isOver.response = true
    for (const socket of [request, response]) {
      if (ending === 'reset') socket.resetAndDestroy()
      else socket.end()
    }
  }
}

/** A TCP proxy on a port of its own, which cuts its first connections at a byte. */
export async function startCuttingProxy(targetPort: number, cut?: Cut): Promise<CuttingProxy> {
  const passed = { request: 0, response: 0 }
  const sockets = new Set<Socket>()
  let accepted = 0
  const server = createServer({ noDelay: true }, (caller) => {
    const target = connect({ host: '127.0.0.1', port: targetPort, noDelay: true })
    for (const socket of [caller, target]) {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    }
    const isCut = cut !== undefined && accepted++ < cut.connections
    new Relay(caller, target, passed, isCut ? cut : undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
