import { connect, createServer, type Socket } from 'node:net'

/** An address that leads to one server now and to another later. */
export interface AddressProxy {
  readonly port: number
  /** Leads new connections to another port, and ends those that are open. */
  leadTo(port: number): void
  close(): Promise<void>
}

/** Listens on a port of this machine and passes bytes on. */
export async function startProxy(target: number): Promise<AddressProxy> {
  let port = target
  const sockets = new Set<Socket>()

  function keep(socket: Socket, other: () => Socket): void {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      other().destroy()
    })
  }

  const server = createServer((caller) => {
    const onward = connect(port, '127.0.0.1')
    keep(caller, () => onward)
    keep(onward, () => caller)
    caller.pipe(onward).pipe(caller)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const end = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    leadTo(other) {
      port = other
      end()
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      end()
      await closed
    },
  }
}
