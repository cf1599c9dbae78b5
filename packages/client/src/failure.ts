import {
  type Applied,
  type ErrorFacts,
  isPlantStoreError,
  optionError,
  PlantStoreError,
  type PlantStoreErrorCode,
} from './errors.ts'
import type { Sent } from './plant-codec.ts'
import type { Scrub } from './scrubber.ts'
import type { Sends } from './sends.ts'

/** The error where no whole response arrived. */
export function connectionError(
  { host }: URL,
  code: PlantStoreErrorCode,
  reason: string,
  facts: ErrorFacts,
): PlantStoreError {
  return new PlantStoreError(code, `no response from ${host}: ${reason}`, { ...facts, reason })
}

/** The parts of a thrown thing by which runtimes name a failure. */
type Thrown = Partial<Record<'name' | 'message' | 'code' | 'syscall' | 'cause' | 'errors', unknown>>

/** The thing and its causes, outermost first; they may go round in a circle. */
function causesOf(thrown: unknown, depth = 5): Thrown[] {
  if (typeof thrown !== 'object' || thrown === null || depth === 0) return []
  return [thrown, ...causesOf((thrown as Thrown).cause, depth - 1)]
}

/** What a code and a message say, with a space between; Deno has no codes, only words. */
const says = {
  /** There never was a connection, whatever the system call was. */
  neverConnected:
    /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket) |client error \(Connect\)|TLS handshake failed/,
  /** Certificates are checked before a request is sent. */
  untrusted:
    /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH)|invalid peer certificate/,
  /** Once TLS speaks, a request may have gone before it fails. */
  tls: /^(?:ERR_SSL_|ERR_TLS_|EPROTO )|received corrupt message/,
  /** A proxy gave 407 instead of a connection (RFC 9110 §15.5.8). */
  proxy: /proxy.*\b407\b|proxy authentication/i,
  /** Fetch refuses the ports of other protocols by itself. */
  port: /^undefined bad port$/,
  /** It does not take the AbortSignal of the global AbortController, which is then that of a polyfill. */
  signal: /\bAbortSignal\b/,
}

function matches({ code, message }: Thrown, pattern: RegExp): boolean {
  return pattern.test(`${String(code)} ${String(message)}`)
}

function neverConnected(thrown: Thrown): boolean {
  const { syscall, errors } = thrown
  // One error for each address that was tried.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(neverConnected)
  return ['connect', 'getaddrinfo'].includes(`${syscall}`) || matches(thrown, says.neverConnected)
}

/** The first word or sentence that says anything, from the innermost cause outwards. */
function reasonOf(causes: readonly Thrown[]): string {
  // A DOMException has a number for its code, from before they had names.
  const said = causes.flatMap(({ code, message }) => [message, typeof code === 'string' && code])
  const last = said.findLast((word) => word && String(word).trim())
  return String(last || 'the runtime gives no reason').trim()
}

/** The same words without secrets, and nothing else that hung on it. */
function copyScrubbed({ name, message, code }: Thrown, scrub: Scrub): Error {
  const copy = new Error(scrub(String(message).trim()))
  copy.name = scrub(String(name))
  copy.stack = `${copy.name}: ${copy.message}`
  return code === undefined ? copy : Object.assign(copy, { code: scrub(String(code)) })
}

/**
 * The error for what fetch, or the reading of its body, threw; its cause is a copy of the innermost.
 * Never throws, whatever was thrown.
 * @param applied whether the plant is stored in case a request was sent
 */
export function toConnectionError(
  thrown: unknown,
  { url, scrub }: Pick<Sent, 'url' | 'scrub'>,
  applied: Applied,
  sends?: Pick<Sends, 'isOnce' | 'status'>,
): PlantStoreError {
  if (isPlantStoreError(thrown)) return Object.assign(thrown, { applied })
  try {
    const things = causesOf(thrown)
    const causes = things.length > 0 ? things : [{ name: 'Error', message: thrown }]
    const has = (pattern: RegExp) => causes.some((cause) => matches(cause, pattern))
    const said = scrub(reasonOf(causes))
    if (has(says.signal)) {
      return optionError('fetch', `takes no signal of the AbortController: ${said}`)
    }
    const isTls = has(says.untrusted) || has(says.tls)
    const isProxy = has(says.proxy) || sends?.status() === 407
    const isUnsent =
      [says.port, says.proxy, says.untrusted].some(has) || causes.some(neverConnected)
    const code = isTls ? 'tls_failed' : isUnsent ? 'connection_failed' : 'connection_lost'
    return connectionError(url, code, isProxy ? 'proxy authentication is required (407)' : said, {
      applied: isUnsent && sends?.isOnce ? 'no' : applied,
      retryable: !(isTls || isProxy || has(says.port)),
      cause: copyScrubbed(causes.at(-1) as Thrown, scrub),
      ...(isProxy && { status: 407 }),
    })
  } catch {
    const doubt = { applied, retryable: true }
    return connectionError(url, 'connection_lost', 'an unreadable error', doubt)
  }
}
