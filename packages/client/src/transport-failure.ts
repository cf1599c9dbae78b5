import { PlantStoreConnectionError } from './errors/connection-error.ts'
import type { Applied, ConnectionCode } from './errors/plant-store-error.ts'
import type { Scrubber } from './scrubber.ts'
import type { Sends } from './sends.ts'

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

/** Deno has words instead of codes, and so has Bun for a handshake. */
const CONNECTING = /client error \(Connect\)|TLS handshake failed/
const UNTRUSTED_WORDS = /invalid peer certificate/
const TLS_WORDS = /received corrupt message|TLS handshake failed/

/** A proxy gave 407 instead of a connection (RFC 9110 §15.5.8). */
const PROXY_WORDS = /proxy.*\b407\b|proxy authentication/i
const PROXY_REASON = 'the proxy requires authentication (407)'

function neverConnected({ code, message, syscall, errors }: Thrown): boolean {
  // One error for each address that was tried.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(neverConnected)
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true
  return NEVER_CONNECTED.test(String(code)) || CONNECTING.test(String(message))
}

interface Kind {
  readonly code: ConnectionCode
  readonly retryable: boolean
  /** Where it is known that the request which failed so was not sent: whose failure it must be. */
  readonly unsent?: 'isFirst' | 'isOwn'
  readonly reason?: string
}

function kindOf(causes: readonly Thrown[]): Kind {
  const hasCode = (pattern: RegExp) => causes.some(({ code }) => pattern.test(String(code)))
  const says = (pattern: RegExp) => causes.some(({ message }) => pattern.test(String(message)))
  const unsent = causes.some(neverConnected) ? ({ unsent: 'isFirst' } as const) : {}
  if (says(PROXY_WORDS))
    return { code: 'connection_failed', retryable: false, unsent: 'isFirst', reason: PROXY_REASON }
  if (hasCode(UNTRUSTED) || says(UNTRUSTED_WORDS))
    return { code: 'tls_failed', retryable: false, unsent: 'isFirst' }
  if (hasCode(TLS) || says(TLS_WORDS)) return { code: 'tls_failed', retryable: false, ...unsent }
  // Fetch refuses the ports of other protocols by itself, without asking the network.
  if (says(/^bad port$/)) return { code: 'connection_failed', retryable: false, unsent: 'isOwn' }
  return {
    code: unsent.unsent ? 'connection_failed' : 'connection_lost',
    retryable: true,
    ...unsent,
  }
}

/** The first word or sentence that says anything, from the innermost cause outwards. */
function reasonOf(causes: readonly Thrown[], thrown: unknown): string {
  // A DOMException has a number for its code, from before they had names.
  const words = causes.flatMap(({ code, message }) => [message, typeof code === 'string' && code])
  const said = words.reverse().find((word) => word && String(word).trim() !== '')
  const text = String(said || (causes.length === 0 ? thrown : '')).trim()
  return text === '' ? 'the runtime gives no reason' : text
}

/** The same words without secrets, and nothing else that hung on it. */
function copyScrubbed({ name, message, code }: Thrown, scrub: Scrubber['scrub']): Error {
  const copy = new Error(scrub(String(message).trim()))
  copy.name = scrub(String(name))
  copy.stack = `${copy.name}: ${copy.message}`
  return code === undefined ? copy : Object.assign(copy, { code: scrub(String(code)) })
}

function judgeThrown(
  thrown: unknown,
  url: URL,
  { scrub }: Scrubber,
  sends: Pick<Sends, 'isFirst' | 'isOwn'>,
  appliedIfSent: Applied,
): PlantStoreConnectionError {
  const causes = causesOf(thrown)
  const { code, retryable, unsent, reason = reasonOf(causes, thrown) } = kindOf(causes)
  const innermost = causes.at(-1) ?? { name: 'Error', message: thrown }
  const applied = unsent !== undefined && sends[unsent] ? 'no' : appliedIfSent
  const cause = copyScrubbed(innermost, scrub)
  return new PlantStoreConnectionError(url, code, scrub(reason), { applied, retryable, cause })
}

/**
 * The error for what fetch, or the reading of its body, threw; its cause is a copy of the innermost.
 * Never throws, whatever was thrown.
 * @param appliedIfSent whether the plant is stored in case a request was sent
 */
export function toConnectionError(
  thrown: unknown,
  url: URL,
  scrubber: Scrubber,
  sends: Pick<Sends, 'isFirst' | 'isOwn'>,
  appliedIfSent: Applied,
): PlantStoreConnectionError {
  try {
    return judgeThrown(thrown, url, scrubber, sends, appliedIfSent)
  } catch {
    const facts = { applied: appliedIfSent, retryable: true }
    return new PlantStoreConnectionError(url, 'connection_lost', 'an unreadable error', facts)
  }
}
