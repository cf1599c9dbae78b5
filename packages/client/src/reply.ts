import { headerNames } from '@plant-store/contract'
import { appliedByError, appliedByPart, type ReplyHead } from './applied.ts'
import type { ErrorBody, Plant } from './contract-types.ts'
import type { Deadline } from './deadline.ts'
import { PlantStoreApiError } from './errors/api-error.ts'
import type { PlantStoreError } from './errors/plant-store-error.ts'
import { PlantStoreResponseError } from './errors/response-error.ts'
import type { PlantStoreFetchResponse } from './fetch.ts'
import type { DecodedReply } from './plant-codec.ts'
import { parseRetryAfter } from './retry.ts'
import type { Scrubber } from './scrubber.ts'

/** A plant, or an error and perhaps the Error body that it stands for. */
export interface JudgedReply {
  readonly head: ReplyHead | undefined
  /** Undefined also where the reply says what it should, without a plant. */
  readonly plant?: Plant | undefined
  readonly errorBody?: ErrorBody
  readonly error?: PlantStoreError
}

/** What is known besides the reply. */
export interface ReplyContext {
  readonly url: URL
  readonly requestId: string
  readonly scrubber: Scrubber
  /** Milliseconds since 1970, for a Retry-After in a reply without a Date. */
  readonly nowMs: number
  /** Whether fetch has certainly sent no other request than the one that was answered. */
  readonly isOnlyRequest: boolean
}

/** What was read of a body. */
export interface ReadBody {
  readonly bytes: Uint8Array
  /** Whether it went on beyond the limit, as no reply of the server's does. */
  readonly isCut: boolean
}

/**
 * Reads a body to its end or to about a limit, so that an endless one does not fill the memory.
 * Its deadline ends it even where fetch heeds no signal.
 * @param chunks gets what arrives, so that it is there where the rest does not come
 */
export async function readBody(
  response: PlantStoreFetchResponse,
  limitBytes: number,
  deadline: Deadline,
  chunks: Uint8Array[],
): Promise<ReadBody> {
  // React Native has no streams, and those of node-fetch are Node's own.
  const body = response.body as ReadableStream<Uint8Array> | null | undefined
  if (typeof body?.getReader !== 'function') {
    return { bytes: new Uint8Array(await response.arrayBuffer()), isCut: false }
  }
  const reader = body.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  deadline.onEnd(cancel)
  if (deadline.ending) cancel()
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

/** The text of the beginning of a body. */
export function decodeText(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder()
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('')
}

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  if (chunks.length === 1 && chunks[0] !== undefined) return chunks[0]
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

/** Reads it by the server's clock, which the reply may name: the caller's may be wrong. */
function retryAfterOf(headers: Headers, nowMs: number): number | undefined {
  const date = Date.parse(headers.get('date') ?? '')
  return parseRetryAfter(headers.get(headerNames.retryAfter), Number.isNaN(date) ? nowMs : date)
}

const MAX_SNIPPET = 80
const MAX_LOCATION = 200

/** What a status says of a reply that is not the plant store's, whatever its body is. */
function explainStatus({ status, headers }: ReplyHead, { scrub }: Scrubber): string | undefined {
  if (status === 407) return 'a proxy requires authentication'
  // A browser gives a redirect the status 0 and hides where it leads.
  if (status !== 0 && Math.floor(status / 100) !== 3) return undefined
  const location = scrub(headers.get('location') ?? '').slice(0, MAX_LOCATION)
  return `it is a redirect${location && ` to ${location}`}, which is not followed`
}

/** What a reply that arrived whole means. */
export function judgeReply(
  head: ReplyHead,
  { bytes, isCut }: ReadBody,
  decoded: DecodedReply,
  { url, requestId, scrubber, nowMs, isOnlyRequest }: ReplyContext,
): JudgedReply {
  if ('plant' in decoded) return { head, plant: decoded.plant }
  const { status, headers } = head
  const retryAfterMs = retryAfterOf(headers, nowMs)
  if ('errorBody' in decoded) {
    const { error, message } = decoded.errorBody
    const errorBody = { ...decoded.errorBody, message: scrubber.scrub(message) }
    const applied = appliedByError(status, error, isOnlyRequest)
    const apiError = new PlantStoreApiError(status, errorBody, { applied, retryAfterMs, url })
    return { head, errorBody, error: apiError }
  }
  const body = decodeText([bytes])
  const why = explainStatus(head, scrubber)
  const error = new PlantStoreResponseError(url, {
    status,
    contentType: scrubber.scrub(headers.get(headerNames.contentType) ?? ''),
    issues: why === undefined ? decoded.issues : [{ path: [], message: why }],
    // Scrubbed before the cut, which might leave half a secret.
    snippet: scrubber.scrub(body).slice(0, MAX_SNIPPET),
    // The server gives no whole JSON with 200 but a plant: this one is somebody else's.
    applied: isCut || decoded.isJson ? 'maybe' : appliedByPart(head, body, requestId),
    retryAfterMs,
  })
  return { head, error }
}
