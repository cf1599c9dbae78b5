import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, type Socket, SocketAddress } from 'node:net'
import { parseNetwork } from '../config/setting-schemas.ts'

/** An IPv4 address with the port that some proxies append, or an IPv6 address in brackets. */
const WITH_PORT = /^(?:(\d+(?:\.\d+){3})|\[([\da-f:.]+)\])(?::\d*)?$/i

/** An IPv6 address in brackets, with the longest name of an interface and a port, is shorter. */
const LONGEST = 80

/** The caller of a connection that has ended. */
const GONE = 'gone'

const MAPPED = /^::ffff:(\d+(?:\.\d+){3})$/

/**
 * An address in its canonical spelling, an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) as IPv4;
 * undefined for text that is no address.
 */
function normalizeAddress(text: string): string | undefined {
  if (text.length > LONGEST) return undefined
  const [, ipv4, ipv6] = WITH_PORT.exec(text) ?? []
  // A zone names the interface by which an address is reached; it is no part of the address.
  const address = (ipv4 ?? ipv6 ?? text).replace(/%.*$/, '')
  const version = isIP(address)
  if (version === 4) return address
  if (version === 0) return undefined
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address
  return MAPPED.exec(canonical)?.[1] ?? canonical
}

/**
 * How a limit identifies a caller: by an IPv4 address, or by the /64 network of an IPv6 address,
 * because every caller can use all addresses of its network.
 */
function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}

function createIsTrusted(proxies: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const proxy of proxies) {
    const parsed = parseNetwork(proxy)
    if (parsed === undefined) throw new TypeError(`${proxy} is no address and no network`)
    list.addSubnet(parsed.network, parsed.length, isIP(parsed.network) === 4 ? 'ipv4' : 'ipv6')
  }
  return (address) => list.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
}

/** Returns the network of the caller of a request. */
export type CallerOf = (request: IncomingMessage) => string

/** Identifies callers by address, each as a network: see `networkOf`. */
export interface CallerAddresses {
  readonly hasProxies: boolean
  /** Whether a trusted proxy opened the connection. */
  isTrusted(socket: Socket): boolean
  /** Who opened the connection; `gone` if it has ended. */
  ofConnection(socket: Socket): string
  ofRequest: CallerOf
}

/**
 * The caller is whoever opened the connection, unless that is a trusted proxy: then it is the
 * first address of X-Forwarded-For, from the right, that is no trusted proxy. What is left of it
 * anybody may have written. An entry that is no address ends the search: the proxy that forwarded
 * it then counts as the caller.
 * @param proxies addresses and networks whose X-Forwarded-For is believed.
 */
export function createCallerAddresses(proxies: readonly string[]): CallerAddresses {
  const isTrusted = createIsTrusted(proxies)

  function behindProxies(nearest: string, forwarded: string): string {
    let caller = nearest
    for (let end = forwarded.length; end > 0 && isTrusted(caller); ) {
      const comma = forwarded.lastIndexOf(',', end - 1)
      const address = normalizeAddress(forwarded.slice(comma + 1, end).trim())
      if (address === undefined) break
      caller = address
      end = comma
    }
    return caller
  }

  // Node forgets the address of a connection that has ended.
  const nearestOf = (socket: Socket) => normalizeAddress(socket.remoteAddress ?? '')

  return {
    hasProxies: proxies.length > 0,
    isTrusted: (socket) => isTrusted(nearestOf(socket) ?? ''),
    ofConnection(socket) {
      const nearest = nearestOf(socket)
      return nearest === undefined ? GONE : networkOf(nearest)
    },
    ofRequest({ socket, headers }) {
      const nearest = nearestOf(socket)
      if (nearest === undefined) return GONE
      const forwarded = proxies.length === 0 ? undefined : headers['x-forwarded-for']
      if (forwarded === undefined) return networkOf(nearest)
      return networkOf(behindProxies(nearest, String(forwarded)))
    },
  }
}
