import { isIP, type Socket } from 'node:net'
import type { RequestHandler } from 'express'
import { RequestError } from '../http/request-error.ts'
import { isLoopback } from '../text/loopback.ts'

/** A well-formed Host: an IPv6 address in brackets, or another host, and maybe a port. */
const HOST = /^(?:\[(.*)\]|([^:]*))(?::\d*)?$/

/** The unspecified addresses, which as a destination mean this machine (RFC 1122 §3.2.1.3). */
const UNSPECIFIED = ['0.0.0.0', '::']

function isThisMachine(host: string): boolean {
  return isLoopback(host) || UNSPECIFIED.includes(host)
}

/** One spelling of a name or an address. */
function normalise(host: string): string {
  return isIP(host) === 6 ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host.toLowerCase()
}

function hostIn(header: string): string {
  const [, ipv6, other] = HOST.exec(header) ?? []
  return normalise(ipv6 ?? other ?? '')
}

/** The local address of a socket, without the IPv4-mapped prefix and the zone of IPv6 (RFC 4007). */
function addressOf({ localAddress = '' }: Socket): string {
  return normalise(localAddress.replace(/^::ffff:(?=[\d.]+$)|%.*$/g, ''))
}

function refusal(): RequestError {
  return new RequestError(
    'malformed_request',
    'Host is not a name of this listener; PLANT_STORE_OPERATIONS_HOSTS allows more names',
  )
}

/**
 * Refuses requests whose Host is not this listener's, because a page whose name leads here (DNS
 * rebinding) could read the replies as its own. Allowed are the address that the connection came in
 * on, a loopback or unspecified address, `localhost`, and each of `hosts`; the port does not matter.
 * HTTP/1.0 may leave Host out, which no browser does.
 */
export function checkHost(hosts: readonly string[]): RequestHandler {
  const known = new Set(hosts.map(normalise))
  return ({ headers, socket }, _response, next) => {
    if (headers.host !== undefined) {
      const host = hostIn(headers.host)
      if (!isThisMachine(host) && host !== addressOf(socket) && !known.has(host)) throw refusal()
    }
    next()
  }
}
