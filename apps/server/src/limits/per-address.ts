import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { RequestError } from '../http/request-error.ts'
import type { Limit } from './admission.ts'
import type { CallerAddresses } from './caller-address.ts'
import type { Refusals } from './refusals.ts'

export interface AddressLimitOptions {
  /** Connections of one address, or requests that trusted proxies forward for it; undefined for any number. */
  readonly most: number | undefined
  readonly addresses: CallerAddresses
}

/** How many of one kind of thing each address has now. */
class Counts {
  readonly #counts = new Map<string, number>()

  /** Adds one unless the address has as many as it may. */
  add(address: string, most: number): boolean {
    const count = this.#counts.get(address) ?? 0
    if (count >= most) return false
    this.#counts.set(address, count + 1)
    return true
  }

  remove(address: string): void {
    const count = (this.#counts.get(address) ?? 0) - 1
    if (count > 0) this.#counts.set(address, count)
    else this.#counts.delete(address)
  }
}

/**
 * Closes connections of an address over its limit at once. A trusted proxy may open any number:
 * `limitForwarded` limits its callers.
 */
export function limitConnections(
  server: Server,
  { most, addresses }: AddressLimitOptions,
  refusals: Refusals,
): void {
  if (most === undefined) return
  const counts = new Counts()
  server.on('connection', (socket: Socket) => {
    const address = addresses.ofConnection(socket)
    if (addresses.isTrusted(socket)) return
    if (!counts.add(address, most)) {
      refusals.count('address_connections', address)
      socket.destroy()
      return
    }
    socket.once('close', () => counts.remove(address))
  })
}

const error = new RequestError(
  'too_many_requests',
  'nothing was stored, try again: too many requests from this address are in flight',
)

/**
 * Refuses requests that trusted proxies forward with 429: an address may have as many in flight as it
 * may have connections.
 */
export function limitForwarded({ most, addresses }: AddressLimitOptions): Limit {
  if (most === undefined || !addresses.hasProxies) return () => undefined
  const counts = new Counts()
  return (request, response) => {
    if (!addresses.isTrusted(request.socket)) return undefined
    const address = addresses.ofRequest(request)
    if (!counts.add(address, most)) return { reason: 'address_requests', error, who: address }
    response.once('close', () => counts.remove(address))
    return undefined
  }
}
