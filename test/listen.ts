import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { onTestFinished } from 'vitest'
import type { OnEnd } from './temporary-folder.ts'

/** Lets a server listen until the test ends, and returns its port. */
export async function listen(server: Server, onEnd: OnEnd = onTestFinished): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onEnd(() => void server.close())
  return (server.address() as AddressInfo).port
}
