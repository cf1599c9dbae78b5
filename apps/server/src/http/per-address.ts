import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Config } from '../config/config.ts'
import type { Limit, Refusals } from './admission.ts'
import type { CallerAddresses } from './caller.ts'
import { RequestError } from './request-error.ts'

/** Places for `most` of one kind of thing of each address. Gives how to leave one; undefined if none is free. */
function createPlaces(most: number) {
  const counts = new Map<string, number>()
  return (address: string): (() => void) | undefined => {
    const count = counts.get(address) ?? 0
    if (count >= most) return undefined
    counts.set(address, count + 1)
    return () => {
      const left = (counts.get(address) ?? 0) - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    }
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
  // Node refuses by this number before it makes a socket.
  server.maxConnections = connectionLimit
  server.on('drop', () => refusals.count('connections'))

  if (most === undefined) return
  const enter = createPlaces(most)
  server.on('connection', (socket: Socket) => {
    if (addresses.isTrusted(socket)) return
    const address = addresses.ofConnection(socket)
    const leave = enter(address)
    if (leave !== undefined) return void socket.once('close', leave)
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
  const enter = createPlaces(most)
  return (request, response) => {
    if (!addresses.isTrusted(request.socket)) return undefined
    const address = addresses.ofRequest(request)
    const leave = enter(address)
    if (leave === undefined) return { reason: 'address_requests', error, who: address }
    response.once('close', leave)
    return undefined
  }
}
