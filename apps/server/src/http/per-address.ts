import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Config } from '../config/config.ts'
import type { Limit, Refusals } from './admission.ts'
import type { CallerAddresses } from './caller.ts'
import { RequestError } from './request-error.ts'

/** How many of one kind of thing each address has now. */
class AddressCounts {
  readonly #counts = new Map<string, number>()

  /** Adds one unless the address has `most`. */
  add(address: string, most: number): boolean {
    const count = this.#counts.get(address) ?? 0
    if (count >= most) return false
    this.#counts.set(address, count + 1)
    return true
  }

  remove(address: string): void {
    const count = this.#counts.get(address) ?? 0
    if (count > 1) this.#counts.set(address, count - 1)
    else this.#counts.delete(address)
  }
}

/**
 * Closes connections beyond the limit of the server, or beyond that of their address, at once. A
 * trusted proxy may open any number of the former: `limitForwarded` limits its callers.
 */
export function limitConnections(
  server: Server,
  { connectionLimit, addressLimit: most }: Pick<Config, 'connectionLimit' | 'addressLimit'>,
  { addresses, refusals }: { addresses: CallerAddresses; refusals: Refusals },
): void {
  const connections = new AddressCounts()

  // Node refuses by this number before it makes a socket.
  server.maxConnections = connectionLimit
  server.on('drop', () => refusals.count('connections'))

  server.on('connection', (socket: Socket) => {
    if (most === undefined || addresses.isTrusted(socket)) return
    const address = addresses.ofConnection(socket)
    if (connections.add(address, most)) {
      socket.once('close', () => connections.remove(address))
      return
    }
    refusals.count('address_connections', address)
    socket.destroy()
  })
}

const error = new RequestError(
  'too_many_requests',
  'nothing was stored, try again: too many requests from this address are in flight',
)

/**
 * Refuses requests that trusted proxies forward with 429: an address may have as many in flight as it
 * may have connections, or any number if `most` is undefined.
 */
export function limitForwarded(most: number | undefined, addresses: CallerAddresses): Limit {
  if (most === undefined || !addresses.hasProxies) return () => undefined
  const requests = new AddressCounts()
  return (request, response) => {
    if (!addresses.isTrusted(request.socket)) return undefined
    const address = addresses.ofRequest(request)
    if (!requests.add(address, most)) return { reason: 'address_requests', error, who: address }
    response.once('close', () => requests.remove(address))
    return undefined
  }
}
