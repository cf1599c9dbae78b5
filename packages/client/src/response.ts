import { errorNameOf, errorTable, headerNames } from '@plant-store/contract'
import { appliedByError } from './applied.ts'
import type { ErrorBody, Plant } from './contract-types.ts'
import { onAbort } from './deadline.ts'
import { type ErrorFacts, PlantStoreError, type PlantStoreErrorCode } from './errors.ts'
import { decodeResponse, type ResponseHead, type Sent } from './plant-codec.ts'
import { isTransientStatus, parseRetryAfter } from './retry.ts'

/** The parts of a response that the client reads; every Response has them. */
export interface FetchedResponse extends Pick<Response, 'status' | 'arrayBuffer'> {
  /** The headers, which node-fetch makes by itself. */
  readonly headers: { forEach(callback: (value: string, name: string) => void): void }
  /** A ReadableStream is read as it arrives, up to a limit; of anything else `arrayBuffer` is taken. */
  readonly body?: unknown
}

/**
 * The part of fetch that the client uses, with every header and the plant as JSON. The global fetch is
 * one in every runtime, and so are those of undici and node-fetch, and what calls one of them.
 */
export type PlantStoreFetch = (
  url: string,
  init: {
    readonly method: string
    /** The names are in lower case. */
    readonly headers: Record<string, string>
    readonly body: string
    /** Aborted when the request is out of time, or the call ends. */
    readonly signal: AbortSignal
    /** A redirect is not followed: the token is for one server. */
    readonly redirect: 'manual'
  },
) => Promise<FetchedResponse>

/** Headers of the runtime, whoever made them; only lines that are wanted. */
export function copyHeaders(
  headers: FetchedResponse['headers'],
  isWanted: (line: string) => boolean = () => true,
): Headers {
  const copy = new Headers()
  headers.forEach((value, name) => {
    if (isWanted(`${name}: ${value}`)) copy.append(name, value)
  })
  return copy
}

/**
 * Reads a body to its end or to about a limit, so that an endless one does not fill the memory. The
 * signal ends it even where fetch heeds none.
 * @param body gets the text as it arrives, so that it is there where the rest does not come
 */
export async function readBody(
  response: FetchedResponse,
  limit: number,
  signal: AbortSignal,
  body: { text: string },
): Promise<void> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const stream = response.body as ReadableStream<Uint8Array> | null | undefined
  // React Native has no streams, and those of node-fetch are Node's own.
  if (typeof stream?.getReader !== 'function') {
    body.text = decoder.decode(await response.arrayBuffer())
    return
  }
  const reader = stream.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  const leave = onAbort(signal, cancel)
  let isWhole = false
  try {
    while (!isWhole && body.text.length <= limit) {
      const { value, done } = await reader.read()
      if (value !== undefined) body.text += decoder.decode(value, { stream: true })
      isWhole = done
    }
  } finally {
    leave()
    if (!isWhole) cancel()
  }
}

/** What an attempt came to; neither where the response says what it should, without a plant. */
export interface Outcome {
  readonly plant?: Plant
  readonly error?: PlantStoreError
}

/** How a call went. */
export interface PlantStoreMeta {
  /** The status of the last response; undefined where there was none. */
  readonly status?: number
  /** The id under which the server's log has the call; undefined where nothing was sent. */
  readonly requestId?: string
  /** Requests sent. */
  readonly attempts: number
  /** The whole call, waits included, in milliseconds. */
  readonly durationMs: number
  /** The headers of the last response; those of a failure lack what quotes the token. */
  readonly headers?: Headers
}

/** What a call came to. */
export type CallResult = Outcome & { readonly meta: PlantStoreMeta }

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
function apiError(status: number, body: ErrorBody, url: URL, facts: ErrorFacts): PlantStoreError {
  const { error: apiCode, message: apiMessage } = body
  const apiName = errorNameOf(apiCode)
  const byStatus = codeByStatus[status] ?? (status >= 500 ? 'server_error' : 'unexpected_status')
  const byName = apiName === 'id_taken' ? 'conflict' : byStatus
  const code = apiName === 'invalid_plant' ? apiName : byName
  const where = code === 'not_found' ? ` for ${url}` : ''
  const message = `the plant store answered ${status}${where}: ${apiMessage} (${apiCode})`
  const issues = code === 'invalid_plant' ? [{ path: [], message: apiMessage }] : []
  return new PlantStoreError(code, message, { ...facts, apiCode, apiName, apiMessage, issues })
}

const MAX_SNIPPET = 80
const MAX_LOCATION = 200

/** The error for a response that the contract does not know, such as a proxy's page. */
function unexpected(head: ResponseHead, text: string, { url, scrub }: Sent, facts: ErrorFacts) {
  const { status, headers } = head
  const location = scrub(headers.get('location') ?? '').slice(0, MAX_LOCATION)
  const redirect = `it is a redirect${location && ` to ${location}`}, which is not followed`
  // A browser gives a redirect the status 0 and hides where it leads.
  const isRedirect = status === 0 || Math.floor(status / 100) === 3
  const proxy = status === 407 ? 'a proxy requires authentication' : undefined
  const explained = isRedirect ? redirect : proxy
  const issues = explained === undefined ? (facts.issues ?? []) : [{ path: [], message: explained }]
  const why = issues.map(({ path, message }) => [...path, message].join(' ')).join('; ')
  // The status of a wrong path, which may come from a wrong base URL.
  const where = status === 404 ? url.href : url.host
  const message = `the response of ${where} with status ${status} is not one of the plant store's: ${why}`
  // Scrubbed before the cut, which might leave half a secret.
  const snippet = scrub(text).slice(0, MAX_SNIPPET)
  // Whole, it is somebody else's: a response of the server's that is cut is thrown by fetch.
  const said = { ...facts, applied: 'maybe', snippet, issues } as const
  return new PlantStoreError('unexpected_response', message, said)
}

/**
 * What a whole response means.
 * @param isOnlyRequest whether fetch has certainly sent no other request than the one answered
 */
export function judgeResponse(
  head: ResponseHead,
  text: string,
  sent: Sent,
  isOnlyRequest: boolean,
): Outcome {
  const { status, headers } = head
  const { plant, errorBody, issues } = decodeResponse(head, text, sent)
  if (plant !== undefined) return { plant }
  // By the server's clock, which the response may name: the caller's may be wrong.
  const date = Date.parse(headers.get('date') ?? '') || Date.now()
  const retryAfterMs = parseRetryAfter(headers.get(headerNames.retryAfter), date)
  const facts = { status, retryable: isTransientStatus(status), retryAfterMs }
  if (issues !== undefined) return { error: unexpected(head, text, sent, { ...facts, issues }) }
  const { error, message } = errorBody
  const { code, status: expected } = errorTable.invalid_plant
  // The server looks at the token first, and then refuses a body without the fields of a plant.
  if (sent.plant === undefined && error === code && status === expected) return {}
  const body = { error, message: sent.scrub(message) }
  const applied = appliedByError(status, error, isOnlyRequest)
  return { error: apiError(status, body, sent.url, { ...facts, applied }) }
}
