import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { CallerAddresses } from './caller-address.ts'
import type { Refusals } from './refusals.ts'

export interface AddressLimitOptions {
  /** Connections of one address, or requests that trusted proxies forward for it; undefined for any number. */
  readonly most: number | undefined
  readonly addresses: CallerAddresses
  readonly refusals: Refusals
}

/** How many of something each address has now. */
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
 * Closes at once what an address opens beyond its connections. A trusted proxy may open any number:
 * its callers are told apart by `limitForwarded`.
 */
export function limitConnections(server: Server, options: AddressLimitOptions): void {
  const { most, addresses, refusals } = options
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

/** Whether a request may go on: as many of an address as it may have connections, where proxies forward it. */
export type AdmitForwarded = (request: IncomingMessage, response: ServerResponse) => boolean

export function limitForwarded(options: AddressLimitOptions): AdmitForwarded {
  const { most, addresses, refusals } = options
  if (most === undefined || !addresses.hasProxies) return () => true
  const counts = new Counts()
  return (request, response) => {
    if (!addresses.isTrusted(request.socket)) return true
    const address = addresses.ofRequest(request)
    if (!counts.add(address, most)) {
      refusals.count('address_requests', address)
      return false
    }
    response.once('close', () => counts.remove(address))
    return true
  }
}
