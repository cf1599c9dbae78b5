import type { ErrorBody, Plant } from './contract-types.ts'
import { PlantStoreApiError, PlantStoreResponseError } from './errors.ts'
import type { Applied, PlantStoreError, PlantStoreIssue } from './plant-store-error.ts'
import { parseRetryAfter } from './retry.ts'
import type { Scrubber } from './scrubber.ts'

/** What arrives of an answer before its body. */
export interface AnswerHead {
  readonly status: number
  readonly headers: Headers
}

/** What the body of an answer holds, by its status. */
export type DecodedAnswer =
  | { readonly plant: Plant }
  | { readonly errorBody: ErrorBody }
  | { readonly issues: readonly PlantStoreIssue[]; readonly isJson: boolean }

/** A plant, or an error and perhaps the Error body that it stands for. */
export interface JudgedAnswer {
  readonly head: AnswerHead | undefined
  readonly plant?: Plant
  readonly errorBody?: ErrorBody
  readonly error?: PlantStoreError
}

/** Whose answer it is to be. */
export interface AnswerContext {
  readonly host: string
  readonly requestId: string
  readonly scrubber: Scrubber
  /** Milliseconds since 1970, for a Retry-After in an answer without a Date. */
  readonly nowMs: number
  /** Whether fetch has surely sent no other request before the one that was answered. */
  readonly isOnlyRequest: boolean
}

/** What was read of a body. */
export interface ReadBody {
  readonly bytes: Uint8Array
  /** Whether it went on beyond the limit, as no answer of the server's does. */
  readonly isCut: boolean
}

/**
 * Reads a body to its end or to about a limit, so that an endless one does not fill the memory.
 * A signal ends it even where fetch does not heed one.
 */
export async function readBody(
  response: Response,
  limitBytes: number,
  signal: AbortSignal,
): Promise<ReadBody> {
  // React Native has no streams, and those of node-fetch are Node's own.
  if (typeof response.body?.getReader !== 'function') {
    return { bytes: new Uint8Array(await response.arrayBuffer()), isCut: false }
  }
  const reader = response.body.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { value } = await reader.read()
    if (value === undefined) break
    chunks.push(value)
    length += value.length
    if (length > limitBytes) {
      cancel()
      break
    }
  }
  return { bytes: concatenate(chunks, length), isCut: length > limitBytes }
}

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

/**
 * Whether a plant is stored whose answer began but broke off. A 200 may be a proxy's page; JSON that
 * repeats the id of the request is the server's, which says 200 only of what is stored.
 */
export function appliedByHead(head: AnswerHead | undefined, requestId: string): Applied {
  if (head?.status !== 200 || head.headers.get('x-request-id') !== requestId) return 'maybe'
  return head.headers.get('content-type')?.startsWith('application/json') ? 'yes' : 'maybe'
}

/** The server's clock where the answer tells it: the caller's may be wrong. */
function retryAfterOf(headers: Headers, nowMs: number): number | undefined {
  const date = Date.parse(headers.get('date') ?? '')
  return parseRetryAfter(headers.get('retry-after'), Number.isNaN(date) ? nowMs : date)
}

const MAX_SNIPPET = 80

/** What an answer that arrived whole means. */
export function judgeAnswer(
  head: AnswerHead,
  { bytes, isCut }: ReadBody,
  decoded: DecodedAnswer,
  { host, requestId, scrubber, nowMs, isOnlyRequest }: AnswerContext,
): JudgedAnswer {
  if ('plant' in decoded) return { head, plant: decoded.plant }
  const { status, headers } = head
  const retryAfterMs = retryAfterOf(headers, nowMs)
  if ('errorBody' in decoded) {
    const { error, message } = decoded.errorBody
    const errorBody = { error, message: scrubber.scrub(message) }
    const apiError = new PlantStoreApiError(status, errorBody, retryAfterMs, isOnlyRequest)
    return { head, errorBody, error: apiError }
  }
  const error = new PlantStoreResponseError(host, {
    status,
    contentType: scrubber.scrub(headers.get('content-type') ?? ''),
    issues: decoded.issues,
    // Scrubbed before the cut, which might leave half a secret.
    snippet: scrubber.scrub(new TextDecoder().decode(bytes)).slice(0, MAX_SNIPPET),
    // The server gives no whole JSON with 200 but a plant: this one is somebody else's.
    applied: isCut || decoded.isJson ? 'maybe' : appliedByHead(head, requestId),
    retryAfterMs,
  })
  return { head, error }
}
