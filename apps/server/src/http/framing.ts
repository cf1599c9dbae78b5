import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import type { RequestHandler } from 'express'
import { lastError, type RequestError } from './request-error.ts'

/** uri-host with an optional port (RFC 9110 §7.2, RFC 3986 §3.2.2), an IPv6 address as a group. */
const HOST = /^(?:(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+|\[([\da-f:.]+)\])(?::\d{0,5})?$/i

/** The authority of an absolute-form, then its path and query. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)$/i

/** A path and a query as a URI may hold them: printable, and without a fragment. */
const ORIGIN = /^\/[!-"$-~]*$/

/** What is before the path of an absolute-form, even if its host is not valid. */
const BEFORE_PATH = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i

/** Whether a text is a valid value of the Host header. */
export function isHost(text: string): boolean {
  const [match, ipv6] = HOST.exec(text) ?? []
  return match !== undefined && (ipv6 === undefined || isIPv6(ipv6))
}

/**
 * A request target as Express can read it: the origin-form or `*` (RFC 9112 §3.2). An absolute-form
 * loses its authority, because Node's url.parse would throw on some. Undefined for an invalid target,
 * such as one with a fragment, without a host or with a user (RFC 9110 §4.2).
 */
export function readableTargetOf(target: string): string | undefined {
  if (target === '*' || ORIGIN.test(target)) return target
  const [, authority, rest = ''] = ABSOLUTE.exec(target) ?? []
  if (authority === undefined || !isHost(authority)) return undefined
  const readable = rest.startsWith('/') ? rest : `/${rest}`
  return ORIGIN.test(readable) ? readable : undefined
}

/** The path of any text that was sent as a target; never throws. */
export function pathOf(target: string): string {
  const [path = ''] = target.replace(BEFORE_PATH, '').split(/[?#]/, 1)
  return path
}

/** More lines than any honest caller sends. */
export const MAX_HEADER_LINES = 200

/** How many lines of a header arrived; Node's own `headers` hide all but the first of some. */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const line = rawHeaders[index] ?? ''
    if (line.length === name.length && line.toLowerCase() === name) count++
  }
  return count
}

const malformed = (message: string) => lastError('malformed_request', message)

function hostProblemOf(request: IncomingMessage): RequestError | undefined {
  const hosts = countHeader(request, 'host')
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) {
    return malformed('the request must have one Host header')
  }
  const isValid = hosts === 0 || isHost(request.headers.host ?? '')
  return isValid ? undefined : malformed('the Host header is not valid')
}

/** HTTP/1.0 has no transfer codings (RFC 9112 §6.1), and no other than chunked is decoded here. */
function isUnknownCoding({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding']
  return coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')
}

/**
 * What RFC 9112 forbids and Node's parser accepts, except in the target; undefined for a request
 * without such a problem. After the error the connection is closed: nobody can be sure where the
 * request ends.
 */
export function framingProblemOf(request: IncomingMessage): RequestError | undefined {
  const { httpVersion, headers, rawHeaders } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return malformed('the request must be HTTP/1.1 or HTTP/1.0')
  }
  if (rawHeaders.length > 2 * MAX_HEADER_LINES) {
    return lastError('headers_too_large', `a request may have ${MAX_HEADER_LINES} header lines`)
  }
  const hostProblem = hostProblemOf(request)
  if (hostProblem !== undefined) return hostProblem
  if (isUnknownCoding(request)) {
    return malformed('the only transfer coding here is chunked, in HTTP/1.1')
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    return lastError('expectation_failed', 'the only expectation met here is 100-continue')
  }
  return undefined
}

/** Refuses a request whose framing has a problem. */
export const checkFraming: RequestHandler = (request, _response, next) => {
  const problem = framingProblemOf(request)
  if (problem !== undefined) throw problem
  next()
}
