import type { RequestHandler } from 'express'
import { RequestError } from '../http/request-error.ts'
import { isLoopback } from '../text/loopback.ts'

/** A well-formed Host: an IPv6 address in brackets, or another host, and maybe a port. */
const HOST = /^(?:\[(.*)\]|([^:]*))(?::\d*)?$/

/**
 * Refuses requests whose Host is not this machine's, because a page whose name leads here (DNS
 * rebinding) could read the responses as its own. For a listener on loopback: another one is reached
 * by names that the server cannot know. HTTP/1.0 may leave Host out, which no browser does.
 */
export const checkLoopbackHost: RequestHandler = ({ headers }, _response, next) => {
  if (headers.host !== undefined) {
    const [, ipv6, other = ''] = HOST.exec(headers.host) ?? []
    if (!isLoopback(ipv6 ?? other.toLowerCase())) {
      throw new RequestError('malformed_request', 'Host is not this machine: try localhost')
    }
  }
  next()
}
