const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|::1)$/

/** Whether a host, in lower case and without brackets, is always this machine: RFC 1122 §3.2.1.3, RFC 4291 §2.5.3, RFC 6761 §6.3. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host)
}
