import { appliedByPart, type ReplyHead } from './applied.ts'
import { Deadline, type Ending } from './deadline.ts'
import { PlantStoreAbortError } from './errors/abort-error.ts'
import { PlantStoreTimeoutError } from './errors/connection-error.ts'
import type { Applied, PlantStoreError } from './errors/plant-store-error.ts'
import type { DecodedReply } from './plant-codec.ts'
import { decodeText, type JudgedReply, judgeReply, readBody, toUnexpected } from './reply.ts'
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

/** What had arrived when an attempt ended early. */
interface Arrived {
  head?: ReplyHead
  readonly chunks: Uint8Array[]
}

/** The reply to an attempt that ended early, with what that means for the plant. */
function judgeEarlyEnd(
  thrown: unknown,
  { head, chunks }: Arrived,
  ending: Ending | undefined,
  sends: Sends,
  context: AttemptContext,
): JudgedReply {
  const { operation, requestId, scrubber } = context
  const { url } = operation
  // Nothing was sent while the connection was being made.
  const applied = sends.atMost === 0 ? 'no' : appliedByPart(head, decodeText(chunks), requestId)
  if (ending !== undefined) return { head, error: toEndingError(ending, context, applied) }
  // Fetch keeps this reply to itself and throws an error without a word.
  if (head === undefined && sends.status === 407) {
    return { head, error: toUnexpected(url, { status: 407, headers: new Headers() }, scrubber) }
  }
  return { head, error: toConnectionError(thrown, url, scrubber, sends, applied) }
}

/** A reply, and how many requests were seen to be sent for it. */
export interface AttemptReply extends JudgedReply {
  readonly sent: number
}

/**
 * Sends a request once and reads its reply, within a time that covers both.
 * Never rejects: what went wrong is in the result, with what it means for the plant.
 */
export async function attempt(
  context: AttemptContext,
  headers: Readonly<Record<string, string>>,
): Promise<AttemptReply> {
  const { operation, settings, runtime, requestId, scrubber } = context
  const { url, method, body } = operation
  const fetch = settings.fetch ?? globalThis.fetch
  const sends = watchSends(fetch, requestId)
  const deadline = new Deadline({
    runtime,
    ms: settings.timeoutMs,
    ending: 'attempt_timeout',
    within: context.deadline,
  })
  const arrived: Arrived = { chunks: [] }

  async function exchange(): Promise<JudgedReply> {
    const { signal } = deadline
    const response = await fetch(url.href, { method, headers, body, signal, redirect: 'manual' })
    noteReply()
    // A copy, which is one even where the caller's fetch gives something else.
    const head = { status: response.status, headers: new Headers(response.headers) }
    arrived.head = head
    const limit = MAX_ERROR_BYTES + MAX_GROWTH * body.length
    const read = await readBody(response, limit, signal, arrived.chunks)
    return judgeReply(head, read, operation.decode(head.status, read.bytes), {
      url,
      requestId,
      scrubber,
      nowMs: runtime.wallClock(),
      isOnlyRequest: sends.atMost === 1,
    })
  }

  const countSent = () => (sends.atMost === Number.POSITIVE_INFINITY ? 1 : sends.atMost)
  try {
    const reply = await deadline.race(exchange())
    return { ...reply, sent: countSent() }
  } catch (thrown) {
    const reply = judgeEarlyEnd(thrown, arrived, deadline.ending, sends, context)
    return { ...reply, sent: countSent() }
  } finally {
    sends.close()
    deadline.close()
  }
}
