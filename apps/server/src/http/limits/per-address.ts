import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { RequestError } from '../request-error.ts'
import type { Limit } from './admission.ts'
import type { CallerAddresses } from './caller-address.ts'
import type { LoopCounts } from './process-counts.ts'
import type { Refusals } from './refusals.ts'

export interface AddressLimitOptions {
  /** Connections of one address, or requests that trusted proxies forward for it; undefined for any number. */
  readonly most: number | undefined
  readonly addresses: CallerAddresses
}

export interface ConnectionLimitOptions extends AddressLimitOptions {
  /** Connections of all addresses. */
  readonly connectionLimit: number
  readonly refusals: Refusals
  readonly counts: Pick<LoopCounts, 'connections' | 'addressConnections'>
}

/**
 * Closes connections beyond the limit of the process, or beyond that of their address, at once. A
 * trusted proxy may open any number of the former: `limitForwarded` limits its callers.
 */
export function limitConnections(server: Server, options: ConnectionLimitOptions): void {
  const { connectionLimit, most, addresses, refusals } = options
  const { connections, addressConnections } = options.counts
  const leave = () => connections.leave()

  // Node refuses by this number before it makes a socket. At least 1, because 0 is no limit.
  Object.defineProperty(server, 'maxConnections', {
    get: () => Math.max(1, connectionLimit - connections.others),
  })
  server.on('drop', () => refusals.count('connections'))

  server.on('connection', (socket: Socket) => {
    if (!connections.take(connectionLimit)) {
      refusals.count('connections')
      socket.destroy()
      return
    }
    socket.once('close', leave)
    const address = addresses.ofConnection(socket)
    if (most === undefined || addresses.isTrusted(socket)) return
    const place = addressConnections.add(address, most)
    if (place === undefined) {
      refusals.count('address_connections', address)
      socket.destroy()
      return
    }
    socket.once('close', () => addressConnections.remove(place))
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
export function limitForwarded(
  { most, addresses }: AddressLimitOptions,
  { addressRequests }: Pick<LoopCounts, 'addressRequests'>,
): Limit {
  if (most === undefined || !addresses.hasProxies) return () => undefined
  return (request, response) => {
    if (!addresses.isTrusted(request.socket)) return undefined
    const address = addresses.ofRequest(request)
    const place = addressRequests.add(address, most)
    if (place === undefined) return { reason: 'address_requests', error, who: address }
    response.once('close', () => addressRequests.remove(place))
    return undefined
  }
}
