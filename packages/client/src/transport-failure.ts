import { PlantStoreConnectionError } from './errors/connection-error.ts'
import type { Applied, ConnectionCode } from './errors/plant-store-error.ts'
import type { Scrubber } from './scrubber.ts'

/** The parts of a thrown thing by which runtimes name a failure. */
interface Thrown {
  readonly name?: unknown
  readonly message?: unknown
  readonly code?: unknown
  readonly syscall?: unknown
  readonly cause?: unknown
  readonly errors?: unknown
}

const MAX_CAUSES = 5

/** The thing and its causes, outermost first. */
function causesOf(thrown: unknown): Thrown[] {
  const causes: Thrown[] = []
  let cause = thrown
  while (typeof cause === 'object' && cause !== null && causes.length < MAX_CAUSES) {
    causes.push(cause)
    cause = (cause as Thrown).cause
  }
  return causes
}

/** Codes that mean, whatever the system call was, that there never was a connection. */
const NEVER_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket)$/

/** Certificates are checked before a request is sent. */
const UNTRUSTED = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH)/

/** Once TLS speaks, a request may have gone before it fails. */
const TLS = /^(?:ERR_SSL_|ERR_TLS_|EPROTO$)/

function neverConnected({ code, syscall, errors }: Thrown): boolean {
  // One error for each address that was tried.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(neverConnected)
  return syscall === 'connect' || syscall === 'getaddrinfo' || NEVER_CONNECTED.test(String(code))
}

type Kind = readonly [code: ConnectionCode, retryable: boolean, applied?: 'no']

function kindOf(causes: readonly Thrown[]): Kind {
  const has = (pattern: RegExp) => causes.some(({ code }) => pattern.test(String(code)))
  if (has(UNTRUSTED)) return ['tls_failed', false, 'no']
  if (has(TLS)) return ['tls_failed', false]
  // Fetch refuses the ports of other protocols by itself, without asking the network.
  if (causes.some(({ message }) => message === 'bad port'))
    return ['connection_failed', false, 'no']
  return causes.some(neverConnected) ? ['connection_failed', true, 'no'] : ['connection_lost', true]
}

/** The same words without secrets, and nothing else that hung on it. */
function copyScrubbed({ name, message, code }: Thrown, scrub: Scrubber['scrub']): Error {
  const copy = new Error(scrub(String(message)))
  copy.name = scrub(String(name))
  copy.stack = `${copy.name}: ${copy.message}`
  return code === undefined ? copy : Object.assign(copy, { code: scrub(String(code)) })
}

function judgeThrown(
  thrown: unknown,
  url: URL,
  { scrub }: Scrubber,
  appliedIfSent: Applied,
): PlantStoreConnectionError {
  const causes = causesOf(thrown)
  const [code, retryable, applied = appliedIfSent] = kindOf(causes)
  const innermost = causes.at(-1) ?? { name: 'Error', message: thrown }
  // A DOMException has a number for its code, from before they had names.
  const word = typeof innermost.code === 'string' ? innermost.code : innermost.message
  const cause = copyScrubbed(innermost, scrub)
  return new PlantStoreConnectionError(url, code, scrub(String(word)), {
    applied,
    retryable,
    cause,
  })
}

/**
 * The error for what fetch, or the reading of its body, threw; its cause is a copy of the innermost.
 * Never throws, whatever was thrown.
 * @param appliedIfSent whether the plant is stored in case the request was sent
 */
export function toConnectionError(
  thrown: unknown,
  url: URL,
  scrubber: Scrubber,
  appliedIfSent: Applied,
): PlantStoreConnectionError {
  try {
    return judgeThrown(thrown, url, scrubber, appliedIfSent)
  } catch {
    const facts = { applied: appliedIfSent, retryable: true }
    return new PlantStoreConnectionError(url, 'connection_lost', 'an unreadable error', facts)
  }
}
