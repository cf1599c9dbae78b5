import {
  type Applied,
  type ErrorFacts,
  optionError,
  PlantStoreError,
  type PlantStoreErrorCode,
} from './errors.ts'
import type { Sent } from './plant-codec.ts'
import type { Scrub } from './scrubber.ts'

/** The error where no whole response arrived. */
export function connectionError(
  url: URL,
  code: PlantStoreErrorCode,
  reason: string,
  facts: ErrorFacts,
): PlantStoreError {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const message = `no response from ${url.host}: ${reason}`
  return new PlantStoreError(code, message, { ...facts, reason, host: url.hostname, port })
}

/** The parts of a thrown thing by which runtimes name a failure. */
type Thrown = Partial<Record<'name' | 'message' | 'code' | 'syscall' | 'cause' | 'errors', unknown>>

const MAX_CAUSES = 5

/** The thing and its causes, outermost first. */
function causesOf(thrown: unknown, depth = MAX_CAUSES): Thrown[] {
  if (typeof thrown !== 'object' || thrown === null || depth === 0) return []
  return [thrown, ...causesOf((thrown as Thrown).cause, depth - 1)]
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

/** Fetch refuses the ports of other protocols by itself. */
const PORT = /^undefined bad port$/

/** It does not take the AbortSignal of the global AbortController, which is then that of a polyfill. */
const SIGNAL = /\bAbortSignal\b/

function matches({ code, message }: Thrown, pattern: RegExp): boolean {
  return pattern.test(`${String(code)} ${String(message)}`)
}

function neverConnected(thrown: Thrown): boolean {
  const { syscall, errors } = thrown
  // One error for each address that was tried.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(neverConnected)
  return syscall === 'connect' || syscall === 'getaddrinfo' || matches(thrown, NEVER_CONNECTED)
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

/** What is known besides what fetch threw. */
export interface ThrownFacts extends Pick<Sent, 'url' | 'scrub'> {
  /** Whether fetch has certainly sent no other request than the one that failed. */
  readonly isOnce: boolean
  /** Whether the plant is stored in case a request was sent. */
  readonly applied: Applied
  /** The status of a response that fetch kept to itself. */
  readonly status?: number | undefined
}

function judge(thrown: unknown, { url, scrub, isOnce, applied, status }: ThrownFacts) {
  const things = causesOf(thrown)
  const causes = things.length > 0 ? things : [{ name: 'Error', message: thrown }]
  const has = (pattern: RegExp) => causes.some((cause) => matches(cause, pattern))
  const said = scrub(reasonOf(causes))
  if (has(SIGNAL)) return optionError('fetch', `takes no signal of the AbortController: ${said}`)
  const isTls = has(UNTRUSTED) || has(TLS)
  const isProxy = has(PROXY) || status === 407
  const isUnsent = [PORT, PROXY, UNTRUSTED].some(has) || causes.some(neverConnected)
  const code = isTls ? 'tls_failed' : isUnsent ? 'connection_failed' : 'connection_lost'
  return connectionError(url, code, isProxy ? 'proxy authentication is required (407)' : said, {
    applied: isUnsent && isOnce ? 'no' : applied,
    retryable: !(isTls || isProxy || has(PORT)),
    cause: copyScrubbed(causes.at(-1) as Thrown, scrub),
    ...(isProxy && { status: 407 }),
  })
}

/**
 * The error for what fetch, or the reading of its body, threw; its cause is a copy of the innermost.
 * Never throws, whatever was thrown.
 */
export function toConnectionError(thrown: unknown, facts: ThrownFacts): PlantStoreError {
  try {
    return judge(thrown, facts)
  } catch {
    const doubt = { applied: facts.applied, retryable: true }
    return connectionError(facts.url, 'connection_lost', 'an unreadable error', doubt)
  }
}
