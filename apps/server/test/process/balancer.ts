import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** An address that leads each connection to a port of this machine. */
export type Balancer = Awaited<ReturnType<typeof startBalancer>>

export async function startBalancer(firstPort: number) {
  let port = firstPort
  const open = new Set<Socket>()
  const server = createServer((caller) => {
    const onward = connect({ port, host: '127.0.0.1' })
    for (const [one, other] of [
      [caller, onward],
      [onward, caller],
    ] as const) {
      open.add(one)
      one.pipe(other)
      one
        .on('error', () => {})
        .once('close', () => {
          open.delete(one)
          other.destroy()
        })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Leads new connections to another port; those that are open stay. */
    lead(to: number) {
      port = to
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}
