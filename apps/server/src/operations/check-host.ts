import { isIP, type Socket } from 'node:net'
import type { RequestHandler } from 'express'
import { RequestError } from '../http/request-error.ts'

/** A well-formed Host: an IPv6 address in brackets, or another host, and maybe a port. */
const HOST = /^(?:\[(.*)\]|([^:]*))(?::\d*)?$/

/** This machine, whatever the address; nobody else can be reached by these. */
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|::1|0\.0\.0\.0|::)$/

/** One spelling of a name or an address. */
function normalise(host: string): string {
  return isIP(host) === 6 ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host.toLowerCase()
}

function hostIn(header: string): string {
  const [, ipv6, other] = HOST.exec(header) ?? []
  return normalise(ipv6 ?? other ?? '')
}

/** The address of a socket's own end; IPv6 sockets map those of IPv4, and name a zone (RFC 4007). */
function addressOf({ localAddress = '' }: Socket): string {
  return normalise(localAddress.replace(/^::ffff:(?=[\d.]+$)|%.*$/g, ''))
}

function refusal(): RequestError {
  return new RequestError(
    'malformed_request',
    'the Host header is none of this listener; PLANT_STORE_OPERATIONS_HOSTS names more',
  )
}

/**
 * Refuses requests for another host than the one asked for: a page whose name was made to lead here
 * (DNS rebinding) reads answers as its own. A host is the address that the connection came in on,
 * a loopback address or `localhost`, or one of `hosts`; its port is nobody's concern. HTTP/1.0 may
 * leave Host out, which no browser does.
 */
export function checkHost(hosts: readonly string[]): RequestHandler {
  const known = new Set(hosts.map(normalise))
  return ({ headers, socket }, _response, next) => {
    if (headers.host !== undefined) {
      const host = hostIn(headers.host)
      if (!LOOPBACK.test(host) && host !== addressOf(socket) && !known.has(host)) throw refusal()
    }
    next()
  }
}
