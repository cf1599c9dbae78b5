import { appliedByHead, type ReplyHead } from './applied.ts'
import { Deadline, type Ending } from './deadline.ts'
import { sendsOnce } from './environment.ts'
import { PlantStoreAbortError } from './errors/abort-error.ts'
import { PlantStoreTimeoutError } from './errors/connection-error.ts'
import type { Applied, PlantStoreError } from './errors/plant-store-error.ts'
import { copyHeaders, type PlantStoreFetch } from './fetch.ts'
import type { DecodedReply } from './plant-codec.ts'
import { type JudgedReply, judgeReply, readBody } from './reply.ts'
import type { Runtime } from './runtime.ts'
import type { Scrubber } from './scrubber.ts'
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

/**
 * Sends a request once and reads its reply, within a time that covers both.
 * Never rejects: what went wrong is in the result, with what it means for the plant.
 */
export async function attempt(
  context: AttemptContext,
  headers: Record<string, string>,
): Promise<JudgedReply> {
  const { operation, settings, runtime, requestId, scrubber } = context
  const { url, method, body } = operation
  const deadline = new Deadline({
    runtime,
    ms: settings.timeoutMs,
    ending: 'attempt_timeout',
    within: context.deadline,
  })
  const arrived: { head?: ReplyHead } = {}

  async function exchange(): Promise<JudgedReply> {
    const fetch: PlantStoreFetch = settings.fetch ?? globalThis.fetch
    const { signal } = deadline
    const response = await fetch(url.href, { method, headers, body, signal, redirect: 'manual' })
    const { status, headers: given } = response
    const head = { status, headers: given instanceof Headers ? given : copyHeaders(given) }
    arrived.head = head
    const read = await readBody(response, MAX_ERROR_BYTES + MAX_GROWTH * body.length, signal)
    return judgeReply(head, read, operation.decode(head.status, read.bytes), {
      host: url.host,
      requestId,
      scrubber,
      nowMs: runtime.wallClock(),
      isOnlyRequest: settings.fetch === undefined && sendsOnce(),
    })
  }

  try {
    return await deadline.race(exchange())
  } catch (thrown) {
    const { head } = arrived
    const applied = appliedByHead(head, requestId)
    const error = deadline.ending
      ? toEndingError(deadline.ending, context, applied)
      : toConnectionError(thrown, url, scrubber, applied)
    return { head, error }
  } finally {
    deadline.close()
  }
}
