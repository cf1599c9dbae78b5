import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Says where a peer listens, as our server does, and ends it when it is asked to. */
export function announce(port: number, close: () => Promise<void> = async () => {}): void {
  process.once('SIGTERM', async () => {
    await close()
    process.exit()
  })
  console.log(`http://127.0.0.1:${port}`)
}

/** Listens, and announces it. */
export function serve(server: Server): void {
  server.listen(0, '127.0.0.1', () => announce((server.address() as AddressInfo).port))
}
