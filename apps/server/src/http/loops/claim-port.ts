import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, listen } from '../listener.ts'

/** How long a start may wait for another one that is about to listen. */
const WAIT_MS = 5_000
const RETRY_MS = 20

async function closed(server: Server): Promise<void> {
  server.close()
  await once(server, 'close')
}

/**
 * Waits until no other start is between the look at a port and its own listeners. The name is one of
 * Linux's abstract sockets, which end with their process and are seen wherever the port is.
 * @throws EADDRINUSE when another start takes longer than 5 s.
 */
async function holdStart({ host, port }: Address): Promise<() => Promise<void>> {
  const until = performance.now() + WAIT_MS
  while (true) {
    const server = createServer().unref()
    server.listen({ path: `\0plant-store-start:${port}` })
    try {
      await once(server, 'listening')
      return () => closed(server)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // Where there are no such sockets, the look at the port has to do.
      if (code !== 'EADDRINUSE') return async () => {}
      if (performance.now() > until) throw Object.assign(error as Error, { host, port })
    }
    await sleep(RETRY_MS)
  }
}

/** Listens alone for a moment, which fails where somebody else listens, sharing the port or not. */
async function findFree(address: Address): Promise<Address> {
  const probe = createHttpServer()
  await listen(probe, address)
  const { address: host, port } = probe.address() as AddressInfo
  await closed(probe)
  return { host, port }
}

/**
 * Calls `listenThere` with an address that nobody else has, and where port 0 has become one that is
 * free. Listeners that share a port would otherwise share that of another server in silence.
 * @throws the error of Node's listen, such as EADDRINUSE.
 */
export async function claimPort<Result>(
  address: Address,
  listenThere: (free: Address) => Promise<Result>,
): Promise<Result> {
  const release = await holdStart(address)
  try {
    return await listenThere(await findFree(address))
  } finally {
    await release()
  }
}
