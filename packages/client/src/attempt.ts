import { appliedByPart, type ResponseHead } from './applied.ts'
import { Deadline, type Ending } from './deadline.ts'
import { type Applied, abortError, type PlantStoreError } from './errors.ts'
import { connectionError, toConnectionError } from './failure.ts'
import { copyHeaders, type PlantStoreFetch } from './fetch.ts'
import type { Decoded } from './plant-codec.ts'
import { decodeText, judgeResponse, type Outcome, readBody } from './response.ts'
import type { Runtime } from './runtime.ts'
import type { Scrub } from './scrubber.ts'
import { type Sends, watchSends } from './sends.ts'
import type { Settings } from './settings.ts'

/** One request that may be sent several times, the same bytes each time. */
export interface Operation {
  readonly url: URL
  readonly method: string
  readonly body: string
  /** The body by which the server says that it is stored; none of what is never a plant. */
  readonly expected?: () => string
  decode(status: number, bytes: Uint8Array): Decoded
}

/** What the attempts of a call share. */
export interface AttemptContext {
  readonly settings: Settings
  readonly operation: Operation
  readonly signal: AbortSignal | undefined
  /** That of the whole call. */
  readonly deadline: Deadline
  readonly requestId: string
  readonly scrub: Scrub
  readonly runtime: Runtime
}

/** The error for what ended a call or an attempt before it was done. */
export function toEndingError(
  ending: Ending,
  { operation, settings, signal }: AttemptContext,
  applied: Applied,
): PlantStoreError {
  if (ending === 'aborted') return abortError(signal?.reason, applied)
  const timeoutMs = ending === 'attempt_timeout' ? settings.timeoutMs : settings.totalTimeoutMs
  const facts = { applied, retryable: true, timeoutMs }
  return connectionError(operation.url, ending, `${ending} of ${timeoutMs} ms`, facts)
}

/** A response repeats what was sent, where JSON may take six bytes for one: `\u0041`. */
const MAX_GROWTH = 6
const MAX_ERROR_BYTES = 65_536

/** What is known of an attempt while it goes on. */
interface Progress {
  readonly sends: Sends
  readonly deadline: Deadline
  /** What has arrived of the body. */
  readonly chunks: Uint8Array[]
  head?: ResponseHead
}

async function exchange(
  { operation, runtime, requestId, scrub }: AttemptContext,
  headers: Record<string, string>,
  fetch: PlantStoreFetch,
  progress: Progress,
): Promise<Outcome> {
  const { url, method, body, expected = () => '' } = operation
  const { signal } = progress.deadline
  const response = await fetch(url.href, { method, headers, body, signal, redirect: 'manual' })
  progress.sends.onResponse()
  const { status, headers: given } = response
  const head = { status, headers: given instanceof Headers ? given : copyHeaders(given) }
  progress.head = head
  const limit = MAX_ERROR_BYTES + MAX_GROWTH * body.length
  const read = await readBody(response, limit, signal, progress.chunks)
  const isOnlyRequest = progress.sends.atMost() === 1
  const nowMs = runtime.wallClock()
  const context = { url, requestId, scrub, nowMs, isOnlyRequest, expected }
  return judgeResponse(head, read, operation.decode(status, read.bytes), context)
}

/** What an attempt came to that threw, and what that means for the plant. */
function judgeThrown(
  thrown: unknown,
  { sends, deadline, chunks, head }: Progress,
  context: AttemptContext,
): Outcome {
  const { operation, requestId, scrub } = context
  const { url, expected = () => '' } = operation
  // Nothing was sent while the connection was being made.
  const isSent = sends.atMost() !== 0
  const text = decodeText(chunks)
  const applied = isSent ? appliedByPart({ head, text, requestId, expected }) : 'no'
  if (deadline.ending) return { head, error: toEndingError(deadline.ending, context, applied) }
  return { head, error: toConnectionError(thrown, url, scrub, sends.isOnce, applied) }
}

/**
 * Sends a request once and reads its response, within a time that covers both; `resent` counts the
 * requests that fetch was seen to send besides the one that it was asked to.
 * Never rejects: what went wrong is in the outcome.
 */
export async function attempt(
  context: AttemptContext,
  headers: Record<string, string>,
): Promise<Outcome & { readonly resent: number }> {
  const { operation, settings, runtime, requestId } = context
  const fetch: PlantStoreFetch = settings.fetch ?? globalThis.fetch
  const sends = watchSends(fetch, requestId, operation.url.origin)
  const deadline = new Deadline(runtime, settings.timeoutMs, 'attempt_timeout', context.deadline)
  const progress: Progress = { sends, deadline, chunks: [] }
  const outcome = await deadline
    .race(exchange(context, headers, fetch, progress))
    .catch((thrown: unknown) => judgeThrown(thrown, progress, context))
  sends.close()
  deadline.close()
  return { ...outcome, resent: (sends.atMost() || 1) - 1 }
}
