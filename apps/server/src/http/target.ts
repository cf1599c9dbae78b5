import { isIPv6 } from 'node:net'

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
