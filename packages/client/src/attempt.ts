import { appliedByPart, type ReplyHead } from './applied.ts'
import { Deadline, type Ending } from './deadline.ts'
import { PlantStoreAbortError } from './errors/abort-error.ts'
import { PlantStoreTimeoutError } from './errors/connection-error.ts'
import type { Applied, PlantStoreError } from './errors/plant-store-error.ts'
import { copyHeaders, type PlantStoreFetch } from './fetch.ts'
import type { DecodedReply } from './plant-codec.ts'
import { decodeText, type JudgedReply, judgeReply, readBody } from './reply.ts'
import type { Runtime } from './runtime.ts'
import type { Scrubber } from './scrubber.ts'
import { noteReply, type Sends, watchSends } from './sends.ts'
import type { CallSettings } from './settings.ts'
import { toConnectionError } from './transport-failure.ts'

/** One request that may be sent several times, the same bytes each time. */
export interface Operation {
  readonly url: URL
  readonly method: string
  readonly body: string
  /** Whether the body is a plant, which may be stored; nothing else ever is. */
  readonly isPlant: boolean
  decode(status: number, bytes: Uint8Array): DecodedReply
}

/** What the attempts of a call share. */
export interface AttemptContext {
  readonly settings: CallSettings
  readonly operation: Operation
  /** That of the whole call. */
  readonly deadline: Deadline
  readonly requestId: string
  readonly scrubber: Scrubber
  readonly runtime: Runtime
}

/** The error for what ended a call or an attempt before it was done. */
export function toEndingError(
  ending: Ending,
  { operation, settings }: Pick<AttemptContext, 'operation' | 'settings'>,
  applied: Applied,
): PlantStoreError {
  if (ending === 'aborted') return new PlantStoreAbortError(settings.signal?.reason, applied)
  const ms = ending === 'attempt_timeout' ? settings.timeoutMs : settings.totalTimeoutMs
  return new PlantStoreTimeoutError(operation.url, ending, ms, applied)
}

/** A reply repeats what was sent, where JSON may take six bytes for one: `\u0041`. */
const MAX_GROWTH = 6
const MAX_ERROR_BYTES = 65_536

/** What is known of an attempt while it goes on. */
interface Progress {
  readonly sends: Sends
  readonly deadline: Deadline
  /** What has arrived of the body. */
  readonly chunks: Uint8Array[]
  head?: ReplyHead
}

async function exchange(
  { operation, runtime, requestId, scrubber }: AttemptContext,
  headers: Record<string, string>,
  fetch: PlantStoreFetch,
  progress: Progress,
): Promise<JudgedReply> {
  const { url, method, body } = operation
  const { signal } = progress.deadline
  const response = await fetch(url.href, { method, headers, body, signal, redirect: 'manual' })
  noteReply(url.origin)
  const { status, headers: given } = response
  const head = { status, headers: given instanceof Headers ? given : copyHeaders(given) }
  progress.head = head
  const limit = MAX_ERROR_BYTES + MAX_GROWTH * body.length
  const read = await readBody(response, limit, progress.deadline, progress.chunks)
  return judgeReply(head, read, operation.decode(head.status, read.bytes), {
    url,
    requestId,
    scrubber,
    nowMs: runtime.wallClock(),
    isOnlyRequest: progress.sends.atMost() === 1,
  })
}

/** What an attempt came to that threw, and what that means for the plant. */
function judgeThrown(
  thrown: unknown,
  { sends, deadline, chunks, head }: Progress,
  context: AttemptContext,
): JudgedReply {
  const { operation, requestId, scrubber } = context
  // Nothing was sent while the connection was being made.
  const isSent = sends.atMost() !== 0
  const applied = isSent ? appliedByPart(head, decodeText(chunks), requestId) : 'no'
  if (deadline.ending) return { head, error: toEndingError(deadline.ending, context, applied) }
  // Node keeps this reply to itself and throws without a word.
  const cause = sends.status() === 407 ? new Error('proxy authentication') : thrown
  return { head, error: toConnectionError(cause, operation.url, scrubber, sends, applied) }
}

/** A reply, and how many requests fetch was seen to send besides the one that it was asked to. */
export interface AttemptReply extends JudgedReply {
  readonly resent: number
}

/**
 * Sends a request once and reads its reply, within a time that covers both.
 * Never rejects: what went wrong is in the result, with what it means for the plant.
 */
export async function attempt(
  context: AttemptContext,
  headers: Record<string, string>,
): Promise<AttemptReply> {
  const { operation, settings, runtime, requestId } = context
  const fetch: PlantStoreFetch = settings.fetch ?? globalThis.fetch
  const sends = watchSends(fetch, requestId, operation.url.origin)
  const deadline = new Deadline({
    runtime,
    ms: settings.timeoutMs,
    ending: 'attempt_timeout',
    within: context.deadline,
  })
  const progress: Progress = { sends, deadline, chunks: [] }
  let reply: JudgedReply
  try {
    reply = await deadline.race(exchange(context, headers, fetch, progress))
  } catch (thrown) {
    reply = judgeThrown(thrown, progress, context)
  }
  sends.close()
  deadline.close()
  return { ...reply, resent: (sends.atMost() || 1) - 1 }
}
