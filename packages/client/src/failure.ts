import {
  type Applied,
  type ErrorFacts,
  PlantStoreError,
  type PlantStoreErrorCode,
} from './errors.ts'
import type { Scrub } from './scrubber.ts'
import type { Sends } from './sends.ts'

/** The error where no whole response arrived. */
export function connectionError(
  url: URL,
  code: PlantStoreErrorCode,
  reason: string,
  facts: ErrorFacts,
): PlantStoreError {
  return new PlantStoreError(code, `no reply from ${url.host}: ${reason}`, {
    ...facts,
    reason,
    host: url.hostname,
    port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
  })
}

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

// These match a code and a message with a space between; Deno has no codes, only words.

/** By these there never was a connection, whatever the system call was. */
const NEVER_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket) |client error \(Connect\)|TLS handshake failed/

/** Certificates are checked before a request is sent. */
const UNTRUSTED =
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH)|invalid peer certificate/

/** Once TLS speaks, a request may have gone before it fails. */
const TLS = /^(?:ERR_SSL_|ERR_TLS_|EPROTO )|received corrupt message/

/** A proxy gave 407 instead of a connection (RFC 9110 §15.5.8). */
const PROXY = /proxy.*\b407\b|proxy authentication/i

/** Fetch refuses the ports of other protocols by itself, without asking the network. */
const PORT = /^undefined bad port$/

const PROXY_REASON = 'proxy authentication is required (407)'

function matches({ code, message }: Thrown, pattern: RegExp): boolean {
  return pattern.test(`${String(code)} ${String(message)}`)
}

function neverConnected(thrown: Thrown): boolean {
  const { syscall, errors } = thrown
  // One error for each address that was tried.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(neverConnected)
  return syscall === 'connect' || syscall === 'getaddrinfo' || matches(thrown, NEVER_CONNECTED)
}

/** A code, whether another try may help, and by which of its facts a request was not sent. */
type Kind = readonly [
  code: PlantStoreErrorCode,
  retryable: boolean,
  unsent: 'isFirst' | 'isOwn' | false,
  reason?: string,
]

function kindOf(causes: readonly Thrown[]): Kind {
  const has = (pattern: RegExp) => causes.some((cause) => matches(cause, pattern))
  const unsent = causes.some(neverConnected) && 'isFirst'
  if (has(UNTRUSTED)) return ['tls_failed', false, 'isFirst']
  if (has(TLS)) return ['tls_failed', false, unsent]
  if (has(PORT)) return ['connection_failed', false, 'isOwn']
  if (has(PROXY)) return ['connection_failed', false, 'isFirst', PROXY_REASON]
  return [unsent ? 'connection_failed' : 'connection_lost', true, unsent]
}

/** The first word or sentence that says anything, from the innermost cause outwards. */
function reasonOf(causes: readonly Thrown[]): string {
  // A DOMException has a number for its code, from before they had names.
  const words = causes.flatMap(({ code, message }) => [message, typeof code === 'string' && code])
  const said = words.reverse().find((word) => word && String(word).trim())
  return String(said || 'the runtime gives no reason').trim()
}

/** The same words without secrets, and nothing else that hung on it. */
function copyScrubbed({ name, message, code }: Thrown, scrub: Scrub): Error {
  const copy = new Error(scrub(String(message).trim()))
  copy.name = scrub(String(name))
  copy.stack = `${copy.name}: ${copy.message}`
  return code === undefined ? copy : Object.assign(copy, { code: scrub(String(code)) })
}

function judgeThrown(
  thrown: unknown,
  url: URL,
  scrub: Scrub,
  sends: Pick<Sends, 'isFirst' | 'isOwn'>,
  appliedIfSent: Applied,
): PlantStoreError {
  const found = causesOf(thrown)
  const causes = found.length > 0 ? found : [{ name: 'Error', message: thrown }]
  const [code, retryable, unsent, reason = reasonOf(causes)] = kindOf(causes)
  const applied = unsent && sends[unsent] ? 'no' : appliedIfSent
  const cause = copyScrubbed(causes.at(-1) as Thrown, scrub)
  return connectionError(url, code, scrub(reason), { applied, retryable, cause })
}

/**
 * The error for what fetch, or the reading of its body, threw; its cause is a copy of the innermost.
 * Never throws, whatever was thrown.
 * @param appliedIfSent whether the plant is stored in case a request was sent
 */
export function toConnectionError(
  thrown: unknown,
  url: URL,
  scrub: Scrub,
  sends: Pick<Sends, 'isFirst' | 'isOwn'>,
  appliedIfSent: Applied,
): PlantStoreError {
  try {
    return judgeThrown(thrown, url, scrub, sends, appliedIfSent)
  } catch {
    const facts = { applied: appliedIfSent, retryable: true }
    return connectionError(url, 'connection_lost', 'an unreadable error', facts)
  }
}
