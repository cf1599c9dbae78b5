import { errorNameOf, headerNames } from '@plant-store/contract'
import { appliedByError, appliedByPart, type BrokenOff, type ResponseHead } from './applied.ts'
import type { ErrorBody, Plant } from './contract-types.ts'
import { onAbort } from './deadline.ts'
import { type ErrorFacts, PlantStoreError, type PlantStoreErrorCode } from './errors.ts'
import type { FetchedResponse } from './fetch.ts'
import type { Decoded } from './plant-codec.ts'
import { isTransientStatus, parseRetryAfter } from './retry.ts'
import type { Scrub } from './scrubber.ts'

/** What was read of a body. */
export interface ReadBody {
  readonly bytes: Uint8Array
  /** Whether it went on beyond the limit, as no response of the server's does. */
  readonly isCut: boolean
}

/**
 * Reads a body to its end or to about a limit, so that an endless one does not fill the memory. The
 * signal ends it even where fetch heeds none.
 * @param chunks gets what arrives, so that it is there where the rest does not come
 */
export async function readBody(
  response: FetchedResponse,
  limitBytes: number,
  signal: AbortSignal,
  chunks: Uint8Array[],
): Promise<ReadBody> {
  // React Native has no streams, and those of node-fetch are Node's own.
  const body = response.body as ReadableStream<Uint8Array> | null | undefined
  if (typeof body?.getReader !== 'function') {
    return { bytes: new Uint8Array(await response.arrayBuffer()), isCut: false }
  }
  const reader = body.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  const leave = onAbort(signal, cancel)
  if (signal.aborted) cancel()
  let length = 0
  while (length <= limitBytes) {
    const { value } = await reader.read()
    if (value === undefined) break
    chunks.push(value)
    length += value.length
  }
  leave()
  const isCut = length > limitBytes
  if (isCut) cancel()
  return { bytes: chunks.length === 1 ? (chunks[0] as Uint8Array) : concatenate(chunks), isCut }
}

function concatenate(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

/** The text of the beginning of a body. */
export function decodeText(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder()
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('')
}

/** What an attempt came to: a plant, or an error and perhaps the Error body that it stands for. */
export interface Outcome {
  readonly head: ResponseHead | undefined
  /** Undefined also where the response says what it should, without a plant. */
  readonly plant?: Plant | undefined
  readonly errorBody?: ErrorBody
  readonly error?: PlantStoreError
}

/** What is known besides the response. */
export interface ResponseContext extends Omit<BrokenOff, 'head' | 'text'> {
  readonly url: URL
  readonly scrub: Scrub
  /** Milliseconds since 1970, for a Retry-After in a response without a Date. */
  readonly nowMs: number
  /** Whether fetch has certainly sent no other request than the one that was answered. */
  readonly isOnlyRequest: boolean
}

const codeByStatus: Readonly<Record<number, PlantStoreErrorCode>> = {
  400: 'rejected',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'too_large',
  429: 'rate_limited',
}

/** The error for a response with an Error body. */
export function apiError(
  status: number,
  { error: apiCode, message: apiMessage }: ErrorBody,
  { url, ...facts }: ErrorFacts & { readonly url?: URL },
): PlantStoreError {
  const apiName = errorNameOf(apiCode)
  const byStatus = codeByStatus[status] ?? (status >= 500 ? 'server_error' : 'unexpected_status')
  const byName = apiName === 'id_taken' ? 'conflict' : byStatus
  const code = apiName === 'invalid_plant' ? apiName : byName
  const where = code === 'not_found' && url ? ` for ${url}` : ''
  const message = `the plant store answered ${status}${where}: ${apiMessage} (${apiCode})`
  const issues = code === 'invalid_plant' ? [{ path: [], message: apiMessage }] : []
  const retryable = isTransientStatus(status)
  const said = { status, apiCode, apiName, apiMessage }
  return new PlantStoreError(code, message, { ...facts, ...said, retryable, issues })
}

const MAX_SNIPPET = 80
const MAX_LOCATION = 200

/** What a status says of a response that is not the plant store's, whatever its body is. */
function explainStatus({ status, headers }: ResponseHead, scrub: Scrub): string | undefined {
  if (status === 407) return 'a proxy requires authentication'
  // A browser gives a redirect the status 0 and hides where it leads.
  if (status !== 0 && Math.floor(status / 100) !== 3) return undefined
  const location = scrub(headers.get('location') ?? '').slice(0, MAX_LOCATION)
  return `it is a redirect${location && ` to ${location}`}, which is not followed`
}

/** The error for a response that the contract does not know, such as a proxy's page. */
function unexpected(
  { status }: ResponseHead,
  url: URL,
  facts: ErrorFacts & Required<Pick<ErrorFacts, 'issues'>>,
): PlantStoreError {
  const why = facts.issues.map(({ path, message }) => [...path, message].join(' ')).join('; ')
  // The status of a wrong path, which may come from a wrong base URL.
  const where = status === 404 ? url.href : url.host
  const message = `the response of ${where} with status ${status} is not one of the plant store's: ${why}`
  const retryable = isTransientStatus(status)
  return new PlantStoreError('unexpected_response', message, { ...facts, status, retryable })
}

/** What a response that arrived whole means. */
export function judgeResponse(
  head: ResponseHead,
  { bytes, isCut }: ReadBody,
  decoded: Decoded,
  { url, scrub, nowMs, isOnlyRequest, ...sent }: ResponseContext,
): Outcome {
  if ('plant' in decoded) return { head, plant: decoded.plant }
  const { status, headers } = head
  // By the server's clock, which the response may name: the caller's may be wrong.
  const date = Date.parse(headers.get('date') ?? '')
  const clock = Number.isNaN(date) ? nowMs : date
  const retryAfterMs = parseRetryAfter(headers.get(headerNames.retryAfter), clock)
  if ('errorBody' in decoded) {
    const { error, message } = decoded.errorBody
    const errorBody = { error, message: scrub(message) }
    const applied = appliedByError(status, error, isOnlyRequest)
    return { head, errorBody, error: apiError(status, errorBody, { applied, retryAfterMs, url }) }
  }
  const text = decodeText([bytes])
  const why = explainStatus(head, scrub)
  const error = unexpected(head, url, {
    contentType: scrub(headers.get(headerNames.contentType) ?? ''),
    issues: why === undefined ? decoded.issues : [{ path: [], message: why }],
    // Scrubbed before the cut, which might leave half a secret.
    snippet: scrub(text).slice(0, MAX_SNIPPET),
    // The server gives no whole JSON with 200 but a plant: this one is somebody else's.
    applied: isCut || decoded.isJson ? 'maybe' : appliedByPart({ head, text, ...sent }),
    retryAfterMs,
  })
  return { head, error }
}
